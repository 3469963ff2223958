// Re-exports Preact: the only module that names its version.
export * from "../vendor/preact-11.2.0.js";
