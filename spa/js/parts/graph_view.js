// The drawing of a graph. Cytoscape is loaded when the first one is shown; a list beside it says the same.

import { shortened } from "../entries.js";
import { isDark } from "../theme.js";
import { html, useEffect, useRef, useState } from "../view.js";
import { Loading } from "./states.js";

const LIBRARY = "../../vendor/cytoscape-3.34.4.js";
const STYLE_ID = "__________cytoscape_stylesheet";
const LABELLED = 60;
const LARGEST = 1.25;

export function GraphView({ nodes, edges, onOpen }) {
    const host = useRef(null);
    const [isReady, setReady] = useState(false);
    const dark = isDark.value;
    useEffect(() => {
        let drawing = null;
        let isOver = false;
        keepStyleOut();
        import(LIBRARY).then(({ default: cytoscape }) => {
            // The element goes as soon as the page is left, the cleanup comes after the next paint.
            if (!isOver && host.current) {
                drawing = draw(cytoscape, host.current, { nodes, edges });
                drawing.on("tap", "node", (event) => onOpen(event.target.id()));
                setReady(true);
            }
        });
        return () => {
            isOver = true;
            drawing?.destroy();
        };
    }, [nodes.length, edges.length, dark]);
    return html`<div>
        ${!isReady && html`<${Loading} what="Drawing" />`}
        <div class="graph" ref=${host} role="img"
            aria-label=${`${nodes.length} entries and ${edges.length} links; the list says the same`}></div>
    </div>`;
}

/** The library would add a style element, which the page's policy forbids; ours stands in app.css. */
function keepStyleOut() {
    if (!document.getElementById(STYLE_ID)) {
        const mark = document.createElement("template");
        mark.id = STYLE_ID;
        document.head.append(mark);
    }
}

function draw(cytoscape, container, { nodes, edges }) {
    const style = getComputedStyle(container);
    const colour = (name) => style.getPropertyValue(name).trim();
    const tones = { canonical: colour("--canonical"), curated: colour("--good") };
    const drawing = cytoscape({
        container,
        elements: [
            ...nodes.map((node) => ({ data: {
                id: node.id, hops: node.hops, label: shortened(node.title, 24),
                tone: tones[node.curationTier] ?? colour("--accent"),
            } })),
            ...edges.map((edge, at) => ({ data: {
                id: `edge-${at}`, source: edge.sourceId, target: edge.targetId, label: edge.type,
            } })),
        ],
        style: [
            { selector: "node", style: {
                "background-color": "data(tone)", color: colour("--ink"),
                label: nodes.length <= LABELLED ? "data(label)" : "",
                "font-size": 10, width: 14, height: 14, "text-valign": "bottom", "text-margin-y": 4,
            } },
            { selector: "node[hops = 0]", style: {
                width: 26, height: 26, "font-weight": "bold", "text-valign": "top", "text-halign": "right",
                "text-margin-x": 4, "text-margin-y": -4,
            } },
            { selector: "edge", style: {
                width: 1, "line-color": colour("--ink-soft"), "target-arrow-color": colour("--ink-soft"), opacity: .55,
                "target-arrow-shape": "triangle", "arrow-scale": .7, "curve-style": "bezier",
                label: edges.length <= LABELLED ? "data(label)" : "", "font-size": 8, color: colour("--ink-soft"),
            } },
        ],
        layout: { ...layoutFor(nodes), animate: false, padding: 30 },
        minZoom: .2,
        maxZoom: 4,
    });
    // A few entries would fill the whole drawing, labels and all.
    drawing.zoom(Math.min(drawing.zoom(), LARGEST));
    drawing.center();
    return drawing;
}

function layoutFor(nodes) {
    return nodes.some((node) => node.hops === 0)
        ? { name: "concentric", concentric: (node) => -node.data("hops"), levelWidth: () => 1, minNodeSpacing: 75 }
        : { name: "cose", randomize: false };
}
