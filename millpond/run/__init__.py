"""The ways to run a split plan. So far: continuous views, which merge everything since their creation when asked."""
