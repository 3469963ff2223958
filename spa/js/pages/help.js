// Help: the guides for users and agents, and links to the machine-readable documents.

import * as api from "../api.js";
import { useLoaded } from "../loading.js";
import { blocksOf } from "../markdown.js";
import { place, setQuery } from "../router.js";
import { html } from "../view.js";
import { Card, PageHead } from "../parts/pieces.js";
import { Markdown } from "../parts/markdown.js";
import { Loaded } from "../parts/states.js";
import { Tabs } from "../parts/tabs.js";

const DOCUMENTS = {
    people: { title: "For users", path: "/admin/help/end-user" },
    agents: { title: "For agents", path: "/admin/help/agent" },
    usage: { title: "Agent reference", path: "/docs/agent-usage" },
};

export function Help() {
    const shown = DOCUMENTS[place.value.query.show] ? place.value.query.show : "people";
    const text = useLoaded(() => api.publicDocument(DOCUMENTS[shown].path), [shown]);
    return html`<${PageHead} title="Help"
        about=${html`API: <a href="/openapi.json">OpenAPI</a>, <a href="/docs/schema">JSON Schema</a>.`} />
    <${Tabs} label="Help pages" isFirst tabs=${Object.entries(DOCUMENTS).map(([name, { title }]) => [name, title])}
        chosen=${shown} onPick=${(show) => setQuery({ show })} />
    <${Card}><${Loaded} from=${text} what="Loading the help">
        ${(found) => html`<${Markdown} blocks=${blocksOf(found)} />`}</${Loaded}></${Card}>`;
}
