"""Drop-in toolsets: the tools of other memory servers, for their clients."""
