"""The split planner: a bound query becomes stream pipelines, the state they fill, and the upper pipeline over it."""
