// Speaks /v1/chat/completions for one small model on the CPU, one call at a time, one thread.
//
//     node small_model.mjs MODEL.gguf        prints the base URL once the model is loaded; ends with its standard input
//
// It is run from a folder in which `node-llama-cpp` is installed. An answer ends with the sentence that makes it long
// enough: a model of this size would go on and on, and every word takes its time.

import { createServer } from "node:http";
import { getLlama, LlamaChatSession } from "node-llama-cpp";

const ENOUGH = 220; // characters, from which on the next end of a sentence is the end
const MOST = 220; // tokens of an answer
const CONTEXT = 4096; // tokens of what is read and written

const llama = await getLlama({ gpu: false, build: "never", skipDownload: true, maxThreads: 1, logLevel: "error" });
const model = await llama.loadModel({ modelPath: process.argv[2] });
const context = await model.createContext({ contextSize: CONTEXT });

async function completion(asked, seed) {
  const said = (role) => asked.messages.filter((each) => each.role === role).map((each) => each.content).join("\n");
  const contextSequence = context.getSequence();
  const session = new LlamaChatSession({ contextSequence, systemPrompt: said("system") });
  const enough = new AbortController();
  let text = "";
  const answer = await session.promptWithMeta(said("user"), {
    maxTokens: Math.min(asked.max_tokens ?? MOST, MOST),
    temperature: 0.7,
    seed,
    signal: enough.signal,
    stopOnAbortSignal: true,
    onTextChunk(piece) {
      text += piece;
      if (text.length >= ENOUGH && /[.!?]\s*$/.test(text)) enough.abort();
    },
  });
  const usage = { prompt_tokens: contextSequence.tokenMeter.usedInputTokens, completion_tokens: contextSequence.tokenMeter.usedOutputTokens };
  session.dispose();
  contextSequence.dispose();
  const finish_reason = answer.stopReason === "maxTokens" ? "length" : "stop";
  const choices = [{ index: 0, message: { role: "assistant", content: answer.responseText }, finish_reason }];
  return { id: `small-${seed}`, object: "chat.completion", created: 0, model: asked.model, choices, usage };
}

let turn = Promise.resolve();
let calls = 0;

const server = createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  const reply = (status, value) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(value));
  };
  if (request.method !== "POST" || !request.url.endsWith("/chat/completions")) {
    reply(404, { error: { message: "POST /v1/chat/completions is all there is" } });
    return;
  }
  turn = turn
    .then(async () => reply(200, await completion(JSON.parse(Buffer.concat(parts)), ++calls)))
    .catch((error) => reply(500, { error: { message: String(error.message ?? error) } }));
});

server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/v1`));
process.stdin.on("end", () => process.exit(0)).resume();
