// Import and export: import memories from files into a project, and export them.

import { mayIn } from "../session.js";
import { html } from "../view.js";
import { ExportCard } from "../parts/export_card.js";
import { ImportCard } from "../parts/import_card.js";
import { PageHead } from "../parts/pieces.js";

export function Transfer({ project }) {
    return html`<${PageHead} title="Import and export" about=${`Import memories into ${project} or export them.`} />
    <div class="cards">
        ${mayIn(project, "writer") && html`<${ImportCard} key=${`in ${project}`} project=${project} />`}
        <${ExportCard} key=${`out ${project}`} project=${project} />
    </div>`;
}
