"""Python code that several recipes share; each recipe has it as `code/common` by a link."""
