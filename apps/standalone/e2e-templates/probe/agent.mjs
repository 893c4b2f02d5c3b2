import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const started = new Date().toISOString();
let inside = 0;
let most = 0;
/** Every message that came with files. */
const attached = [];
let declined = 0;

const words = {
  env: ([key]) => process.env[key] ?? '(unset)',
  pid: () => String(process.pid),
  started: () => started,
  slow: async ([millis]) => {
    inside += 1;
    most = Math.max(most, inside);
    await sleep(Number(millis));
    inside -= 1;
    return `slept ${millis}`;
  },
  most: () => String(most),
  // Leaves a line in the volume: when, and what.
  mark: ([what]) => {
    appendFileSync(join(process.env.BERTH_VOLUME, 'marks'), `${Date.now()} ${what}\n`);
    return `marked ${what}`;
  },
  attachments: () => JSON.stringify(attached),
  // Refuses `times` messages, then accepts.
  decline: ([times], response) => {
    declined += 1;
    if (declined <= Number(times)) response.statusCode = 503;
    return 'maybe';
  },
  die: () => process.exit(3),
  // Asks a model, as an SDK does.
  model: async ([name]) => {
    const response = await fetch(`${process.env.OPENAI_BASE_URL}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${process.env.OPENAI_API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: name, messages: [{ role: 'user', content: 'hello' }], max_tokens: 100 }),
    });
    if (!response.ok) throw new Error(`the model refused with ${response.status}`);
    return JSON.stringify(await response.json());
  },
  fail: () => {
    throw new Error('the model said no');
  },
};

const answer = async (message, response) => {
  const [word, ...rest] = message.split(' ');
  return words[word] === undefined ? `heard: ${message}` : await words[word](rest, response);
};

/** `GET /schedules`: the file of that name in the volume, whatever it holds. */
const schedules = (response) => {
  const file = join(process.env.BERTH_VOLUME, 'schedules');
  response.statusCode = existsSync(file) ? 200 : 404;
  response.end(existsSync(file) ? readFileSync(file) : '');
};

const serve = async (request, response) => {
  if (request.method === 'GET' && request.url === '/schedules') return schedules(response);
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}');
    const { message, attachments, source } = body;
    // What no caller waits for leaves a line in the volume.
    if (source !== undefined)
      appendFileSync(join(process.env.BERTH_VOLUME, 'received'), `${JSON.stringify(body)}\n`);
    if (attachments !== undefined) attached.push({ message, attachments });
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ response: await answer(message ?? '', response) }));
  } catch (error) {
    response.statusCode = 500;
    response.end(JSON.stringify({ error: error.message }));
  }
};

createServer((request, response) => void serve(request, response)).listen(
  Number(process.env.PORT),
  '127.0.0.1',
  () => console.log('probe is listening'),
);
