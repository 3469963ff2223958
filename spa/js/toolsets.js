// The toolsets: groups of tools that a project offers to agents.

/** Every toolset, and what its tools do. */
export const TOOLSETS = {
    lite: "Remember and recall in a few flat tools, for agents with little room.",
    core: "Store, search and change memories. Every agent needs it.",
    lifecycle: "Look after memories: recall, links, duplicates, contradictions, archive, history.",
    documents: "Store documents with their chunks, replace and delete them.",
    system: "Look after the files: problems, conflicts, erase, rebuild, verify, sync. For operators.",
    aiMemory: "The tools of ai-memory, for agents that were set up for it.",
    serverMemory: "The tools of the official MCP memory server, for agents that were set up for it.",
};
