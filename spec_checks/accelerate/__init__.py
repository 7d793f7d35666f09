"""Properties of generated code: the same bits as from the plan, op by op."""
