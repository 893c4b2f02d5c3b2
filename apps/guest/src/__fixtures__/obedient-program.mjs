// A program whose behaviour is controlled by the chat messages it receives.
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';

const volume = process.env.BERTH_VOLUME;
const pause = (millis) => new Promise((resolve) => setTimeout(resolve, millis));
let busy = 0;

const replies = {
  die: () => process.exit(7),
  // A process outside its group keeps its outputs open.
  'hold outputs': () => void spawn('sleep', ['1'], { detached: true, stdio: 'inherit' }),
  pid: () => [{ response: String(process.pid) }],
  'stop listening': () => {
    server.close();
    setInterval(() => undefined, 1_000);
  },
  fail: () => [{ error: { message: 'the model is out of words' } }, 500],
  busy: () => [{ error: 'busy' }, existsSync(`${volume}/go`) ? 200 : 503],
  'too many': () => [{ error: 'slow down' }, existsSync(`${volume}/go`) ? 204 : 429],
  moved: () => ['', 301],
  body: (_c, _a, body) => writeFileSync(`${volume}/body`, JSON.stringify(body)),
  'fail long': () => ['x'.repeat(5000), 500],
  garbage: () => ['<html>'],
  'no text': () => [{ response: 5 }],
  huge: () => [{ response: 'x'.repeat(2_200_000) }],
  'huge once decoded': () => [
    Buffer.concat([Buffer.from('{"response":"'), Buffer.alloc(2_000_000, 0xff), Buffer.from('"}')]),
  ],
  attached: (_, attachments) => [{ response: JSON.stringify(attachments ?? 'none') }],
  env: () => [{ response: JSON.stringify(process.env) }],
  hold: async () => {
    while (!existsSync(`${volume}/go`)) await pause(10);
  },
  lane: async (conversation) => {
    busy += 1;
    const now = busy;
    await pause(30);
    busy -= 1;
    return [{ response: `${conversation}:${now}` }];
  },
};

const server = createServer(async (request, response) => {
  if (request.url === '/health') return response.end('ok');
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const received = JSON.parse(Buffer.concat(chunks));
  const { message, conversation_id: conversation, attachments } = received;
  appendFileSync(`${volume}/seen`, `${message}\n`);
  if (message === 'switch')
    return request.socket.write('HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
  const reply = replies[message.startsWith('lane') ? 'lane' : message];
  const [body, status = 200] = (await reply?.(conversation, attachments, received)) ?? [
    { response: `heard ${message}` },
  ];
  response.statusCode = status;
  response.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
});
server.listen(process.env.PORT, '127.0.0.1');
process.stdout.write(`${JSON.stringify({ level: 'warn', msg: 'up' })}\n`);
process.stderr.write('to stderr\n');
