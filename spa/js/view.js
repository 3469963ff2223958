// What components are made with: the one place that names the version of Preact.
export * from "../vendor/preact-11.2.0.js";
