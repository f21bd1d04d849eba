"""SQLAlchemy's ORM: a stream is used like any table, and a continuous view is a class that is only read."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from decimal import Decimal

import pytest
import sqlalchemy as sa
from sqlalchemy import orm

from tests.clients.conftest import Served


class Base(orm.DeclarativeBase):
    """What is mapped."""


class User(Base):
    """A table."""

    __tablename__ = "orm_users"

    id: orm.Mapped[int] = orm.mapped_column(primary_key=True, autoincrement=False)
    username: orm.Mapped[str]
    rate: orm.Mapped[Decimal | None] = orm.mapped_column(sa.Numeric(10, 2))


class Post(Base):
    """A stream: it has no primary key, but the mapper wants to know which columns tell its rows apart."""

    __table__ = sa.Table(
        "orm_posts",
        Base.metadata,
        sa.Column("uid", sa.Integer),
        sa.Column("score", sa.Integer),
        sa.Column("content", sa.Text),
        sa.Column("posted", sa.DateTime(timezone=True)),
    )
    __mapper_args__ = {"primary_key": [__table__.c.uid, __table__.c.posted]}  # noqa: RUF012

    uid: orm.Mapped[int]
    score: orm.Mapped[int]
    content: orm.Mapped[str]
    posted: orm.Mapped[datetime.datetime]


class Influence(Base):
    """A continuous view over the stream."""

    __table__ = sa.Table(
        "orm_influence",
        Base.metadata,
        sa.Column("uid", sa.Integer),
        sa.Column("posts", sa.BigInteger),
        sa.Column("score", sa.Numeric),
    )
    __mapper_args__ = {"primary_key": [__table__.c.uid]}  # noqa: RUF012

    uid: orm.Mapped[int]
    posts: orm.Mapped[int]
    score: orm.Mapped[Decimal]
    user: orm.Mapped[User] = orm.relationship(
        User, primaryjoin=lambda: orm.foreign(Influence.uid) == User.id, viewonly=True, uselist=False
    )


STREAM = "CREATE FOREIGN TABLE orm_posts (uid int, score int, content text, posted timestamptz) SERVER stream"
VIEW = "CREATE VIEW orm_influence AS SELECT uid, count(*) AS posts, avg(score) AS score FROM orm_posts GROUP BY uid"
NOON = datetime.datetime(2024, 6, 1, 12, tzinfo=datetime.UTC)


@pytest.fixture(scope="module")
def engine(shared_server: Served) -> Iterator[sa.Engine]:
    url = shared_server.url.replace("postgresql://", "postgresql+psycopg://")
    made = sa.create_engine(url, use_native_hstore=False)
    with made.begin() as connection:
        connection.execute(
            sa.text("CREATE TABLE orm_users (id int PRIMARY KEY, username text NOT NULL, rate numeric(10,2))")
        )
        connection.execute(sa.text(STREAM))
    with made.begin() as connection:
        connection.execute(sa.text(VIEW))
    yield made
    made.dispose()


def test_a_stream_and_a_view_are_mapped_classes(engine: sa.Engine) -> None:
    with orm.Session(engine) as session:
        session.add_all([User(id=1, username="Chris", rate=Decimal("12.50")), User(id=2, username="Ada")])
        session.add_all(
            Post(uid=n % 2 + 1, score=n * 100, content=f"post {n}", posted=NOON + datetime.timedelta(minutes=n))
            for n in range(10)
        )
        session.commit()
    with orm.Session(engine) as session:
        influence = session.scalars(sa.select(Influence).order_by(Influence.uid)).all()
        assert [(one.uid, one.posts, one.score) for one in influence] == [(1, 5, Decimal(400)), (2, 5, Decimal(500))]
        assert influence[0].user.username == "Chris"
        joined = sa.select(User.username, Influence.score).join(Influence, Influence.uid == User.id)
        assert [tuple(row) for row in session.execute(joined.where(Influence.score >= 500))] == [("Ada", Decimal(500))]
        recent = session.scalars(sa.select(Post).where(Post.uid.in_([2])).order_by(Post.posted.desc()).limit(1)).one()
        assert (recent.content, recent.posted) == ("post 9", NOON + datetime.timedelta(minutes=9))
        session.add(Post(uid=1, score=1600, content="viral", posted=NOON))
        session.commit()
        assert session.get_one(Influence, 1, populate_existing=True).score == 600


def test_the_units_of_work_of_a_table(engine: sa.Engine) -> None:
    with orm.Session(engine) as session:
        user = User(id=10, username="Grace")
        session.add(user)
        session.flush()
        nested = session.begin_nested()
        user.username = "renamed"
        session.flush()
        nested.rollback()
        assert session.scalar(sa.select(User.username).where(User.id == 10)) == "Grace"
        user.rate = Decimal("7.25")
        session.commit()
        session.delete(user)
        session.commit()
        assert session.get(User, 10) is None


def test_integrity_errors_leave_the_session_usable(engine: sa.Engine) -> None:
    with orm.Session(engine) as session:
        session.add(User(id=20, username="one"))
        session.commit()
        try:
            with session.begin_nested():
                session.execute(sa.insert(User), [{"id": 20, "username": "two"}])
        except sa.exc.IntegrityError as error:
            diagnostics = error.orig.diag  # type: ignore[union-attr]
            assert (diagnostics.table_name, diagnostics.constraint_name) == ("orm_users", "orm_users_pkey")
        assert session.scalar(sa.select(sa.func.count()).select_from(User).where(User.id == 20)) == 1


def test_bulk_inserts_and_large_results(engine: sa.Engine) -> None:
    rows = [
        {"uid": 99, "score": n, "content": "bulk", "posted": NOON + datetime.timedelta(seconds=n)} for n in range(2500)
    ]
    with orm.Session(engine) as session:
        session.execute(sa.insert(Post), rows)
        session.commit()
        chosen = sa.select(Post).where(Post.uid == 99).execution_options(yield_per=500)
        assert sum(len(part) for part in session.scalars(chosen).partitions()) == 2500


def test_isolation_levels_and_reads_only(engine: sa.Engine) -> None:
    with engine.connect().execution_options(isolation_level="READ COMMITTED") as connection:
        assert connection.get_isolation_level() == "READ COMMITTED"
    with (
        engine.connect().execution_options(postgresql_readonly=True) as connection,
        pytest.raises(sa.exc.InternalError, match="cannot execute INSERT in a read-only transaction"),
    ):
        connection.execute(sa.insert(User), {"id": 30, "username": "x"})
