// An agent's first minute without a model, by the TypeScript SDK in the given folder.

const [sdk, address, key, text] = process.argv.slice(2);
const { Client } = await import(`${sdk}/client/index.js`);

async function transport() {
  if (address.startsWith("[")) {
    const { StdioClientTransport } = await import(`${sdk}/client/stdio.js`);
    const [command, ...args] = JSON.parse(address);
    return new StdioClientTransport({ command, args, env: { ...process.env, QMS_KEY: key } });
  }
  const { StreamableHTTPClientTransport } = await import(`${sdk}/client/streamableHttp.js`);
  const headers = { Authorization: `Bearer ${key}` };
  return new StreamableHTTPClientTransport(new URL(address), { requestInit: { headers } });
}

const client = new Client({ name: "tests", version: "1" });
await client.connect(await transport());

async function call(name, given) {
  const result = await client.callTool({ name, arguments: given });
  if (Boolean(result.isError) !== "error" in result.structuredContent) {
    throw new Error(`isError of ${name} does not fit its content`);
  }
  return result.structuredContent;
}

const { tools } = await client.listTools();
const first = await call("coldStart", {});
const before = await call("recall", { query: text });
const refused = await call("remember", { txt: text, kind: "preference" });
const stored = await call("remember", refused.error.details.example);
const after = await call("recall", { query: text });
console.log(JSON.stringify({
  tools: tools.map((tool) => tool.name),
  instructions: client.getInstructions(),
  first, before, refused, stored, after,
}));
await client.close();
