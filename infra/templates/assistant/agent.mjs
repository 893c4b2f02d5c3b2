// A language model with a shell and files of its own. It remembers its conversations on its volume.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { generateText, isStepCount } from 'ai';
import { findModel, HOW_TO_CONFIGURE } from './model.mjs';
import { tools } from './tools.mjs';

const { BERTH_INSTRUCTIONS, BERTH_VOLUME, PORT } = process.env;
const MEMORY = join(BERTH_VOLUME, '.assistant');
const MAX_REMEMBERED = 200_000;
const MAX_STEPS = 30;
const INSTRUCTIONS = `You are an agent on a computer of your own. Your tools run commands on it and read and write its files.
Your folder ${BERTH_VOLUME} keeps its files; everything else may vanish while you sleep. ${BERTH_INSTRUCTIONS ?? ''}`;

const fileOf = (conversationId) =>
  join(MEMORY, `${createHash('sha256').update(conversationId).digest('hex')}.json`);

const recall = (conversationId) => {
  const file = fileOf(conversationId);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
};

/** Forgets the oldest turns beyond the limit. A reader sees the old file or the new one. */
const remember = (conversationId, turns) => {
  while (turns.length > 1 && JSON.stringify(turns).length > MAX_REMEMBERED) turns.shift();
  mkdirSync(MEMORY, { recursive: true });
  writeFileSync(`${fileOf(conversationId)}.new`, JSON.stringify(turns));
  renameSync(`${fileOf(conversationId)}.new`, fileOf(conversationId));
};

const question = ({ message, attachments = [] }) =>
  [message, ...attachments.map(({ path }) => `(Attached file: ${path})`)].join('\n');

/** A turn is what the user said and all that followed: calls of tools, their results, the reply. */
const answer = async (body) => {
  const model = await findModel();
  if (model === undefined) return HOW_TO_CONFIGURE;
  const turns = recall(body.conversation_id);
  const asked = { role: 'user', content: question(body) };
  const { text, responseMessages } = await generateText({
    model,
    tools,
    instructions: INSTRUCTIONS,
    messages: [...turns.flat(), asked],
    stopWhen: isStepCount(MAX_STEPS),
  });
  remember(body.conversation_id, [...turns, [asked, ...responseMessages]]);
  return text;
};

const json = (response, status, body) => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};

const chat = async (request, response) => {
  try {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    json(response, 200, { response: await answer(JSON.parse(Buffer.concat(chunks).toString('utf8'))) });
  } catch (error) {
    console.error(JSON.stringify({ level: 'error', message: error.message }));
    json(response, 500, { error: error.message });
  }
};

const server = createServer((request, response) => {
  const route = `${request.method} ${request.url?.split('?')[0]}`;
  if (route === 'POST /chat') chat(request, response).catch(() => response.destroy());
  else if (route === 'GET /health') json(response, 200, { status: 'ok' });
  else json(response, 404, { error: 'not found' });
});

server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(JSON.stringify({ level: 'info', message: 'the assistant is listening' }));
});
process.on('SIGTERM', () => {
  server.close(() => process.exit(0));
  server.closeAllConnections();
});
