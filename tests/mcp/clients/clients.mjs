// Lists, calls, progress and cancelling with the protocol's own clients, of the handshake and of the modern era, and its
// inspector. Their validators check our schemas.   node clients.mjs TRACELENS DATA BIG
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";

const [program, data, big] = process.argv.slice(2);
const trace = "h200_gpt_train_amp.json.gz";
const tools = 13;
const mm = { op: "aten::mm", dims: [[4096, 8192], [8192, 1024]], dtype: "bf16", gpu: "H100" };
const calls = [
  ["list_traces", {}],
  ["summary", { trace }],
  ["diagnose", { trace }],
  ["tables", { trace }],
  ["table", { trace, table: "kernel_summary" }],
  ["tree", { trace, event: 14956 }],
  ["query", { trace, sql: "SELECT count(*) AS n FROM kernel" }],
  ["compare", { traces: ["h200_pair_base.json.gz", "h200_pair_math.json.gz"] }],
  ["diff", { base: "h200_pair_base.json.gz", new: "h200_pair_math.json.gz" }],
  ["roofline", { trace }],
  ["model", mm],
  ["replay", { trace, event: 165 }],
];

// What every client must manage.
async function converse(client, cancelled) {
  const listed = (await client.listTools()).tools;
  assert.equal(listed.length, tools);
  for (const [name, given] of calls) {
    const result = await client.callTool({ name, arguments: given });
    assert.ok(!result.isError && result.structuredContent.columns, `${name}: ${JSON.stringify(result).slice(0, 400)}`);
    await new Promise((done) => setTimeout(done, 60)); // 20 calls a second
  }
  const asked = await client.callTool({ name: "query", arguments: { trace, sql: "SELECT count(*) AS n FROM kernel" } });
  assert.equal(asked.structuredContent.rows[0][0], 1996);
  const wrong = await client.callTool({ name: "table", arguments: { trace, table: "kernl_summary" } });
  assert.ok(wrong.isError && wrong.content[0].text.includes("kernel_summary"));
  const outside = await client.callTool({ name: "summary", arguments: { trace: "../../README.md" } });
  assert.ok(outside.isError && outside.content[0].text.includes("outside the allowed folders"));
  await assert.rejects(client.callTool({ name: "no_such", arguments: {} }));
  assert.ok((await client.listResources()).resources.length >= 3);
  assert.ok((await client.readResource({ uri: "tracelens://help/sql" })).contents[0].text.includes("SELECT"));
  assert.equal((await client.listPrompts()).prompts.length, 4);
  const prompt = await client.getPrompt({ name: "analyse_trace", arguments: { trace } });
  assert.ok(prompt.messages[0].content.text.includes(trace));

  const told = [];
  const options = { onprogress: (progress) => told.push(progress.progress), timeout: 600000 };
  await cancelled(client, { name: "summary", arguments: { trace: big } }, options);
  assert.ok(told.length > 0 && told.every((one, i) => i === 0 || one > told[i - 1]), `progress: ${told}`);
  const start = Date.now();
  assert.equal((await client.callTool({ name: "model", arguments: mm })).structuredContent.rows[0][3], 68719476736);
  console.log(`   model ${Date.now() - start} ms after the cancel`);
}

// Cancels when the server has told twice how far it is.
async function cancelUnderWay(send, options) {
  const abort = new AbortController();
  let times = 0;
  const onprogress = (progress) => {
    options.onprogress(progress);
    if (++times === 2) abort.abort("enough");
  };
  await assert.rejects(send({ ...options, onprogress, signal: abort.signal }));
}

async function sdk() {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StdioClientTransport({ command: program, args: ["mcp", ...data.split(":")] }));
  assert.equal(client.getServerVersion().name, "tracelens");
  assert.ok(client.getInstructions().includes("from_trace"));
  await client.ping();
  await converse(client, (c, call, options) => cancelUnderWay((all) => c.callTool(call, undefined, all), options));
  await client.close();
}

async function modern(mode) {
  const { Client } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const client = new Client({ name: "test", version: "1" }, mode ? { versionNegotiation: { mode } } : {});
  await client.connect(new StdioClientTransport({ command: program, args: ["mcp", ...data.split(":")] }));
  console.log(`   revision ${client.getNegotiatedProtocolVersion?.() ?? "not told"}`);
  if (mode) assert.equal(client.getNegotiatedProtocolVersion(), "2026-07-28");
  await converse(client, (c, call, options) => cancelUnderWay((all) => c.callTool(call, all), options));
  await client.close();
}

async function inspector() {
  const require = createRequire(import.meta.url);
  const folder = path.dirname(require.resolve("@modelcontextprotocol/inspector/package.json"));
  const run = async (...flags) => {
    const all = [path.join(folder, "cli/build/cli.js"), "--cli", program, "mcp", data.split(":")[0], ...flags];
    return JSON.parse((await promisify(execFile)(process.execPath, all, { maxBuffer: 1 << 24, timeout: 600000 })).stdout);
  };
  assert.equal((await run("--method", "tools/list")).tools.length, tools);
  const called = await run("--method", "tools/call", "--tool-name", "summary", "--tool-arg", `trace=${trace}`);
  assert.equal(called.structuredContent.steps, 2);
  assert.ok((await run("--method", "resources/list")).resources.length >= 3);
  assert.equal((await run("--method", "prompts/list")).prompts.length, 4);
}

const tests = { sdk, "client, by default": () => modern(), "client, modern": () => modern("auto"), inspector };
let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
    console.log(`ok ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED ${name}\n${error.stack}`);
  }
}
process.exit(failed ? 1 : 0);
