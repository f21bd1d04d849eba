"""Scripts of texts that come again are kept, within a bound of what they take."""

from __future__ import annotations

from millpond.server.script import TEXT_CHARACTERS_MAX, KnownScripts, known_script, read_script


def test_a_query_is_read_once() -> None:
    script = read_script("SELECT 'read once'")
    assert known_script("SELECT 'read once'") is script
    assert read_script("SELECT 'read once'") is script


def test_what_hardly_comes_again_or_is_long_is_not_kept() -> None:
    long = f"SELECT '{'x' * TEXT_CHARACTERS_MAX}'"
    for text in ("INSERT INTO t VALUES (1)", "SHOW timezone", long):
        read_script(text)
        assert known_script(text) is None


def test_the_oldest_go_when_there_is_no_more_room() -> None:
    scripts = KnownScripts(characters_max=100)
    texts = [f"SELECT {'1' * length}" for length in range(1, 40)]
    for text in [*texts, texts[-1]]:
        scripts.keep(text, ())
    kept = [text for text in texts if scripts.find(text) is not None]
    assert kept == texts[-len(kept) :]
    assert 50 < sum(map(len, kept)) <= 100
