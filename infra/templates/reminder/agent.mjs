// An agent that wakes itself: it publishes its reminders as schedules, and sleeps until one of them is due.
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { parse } from './parse.mjs';

const { BERTH_API_URL, BERTH_AGENT_TOKEN, BERTH_VOLUME, PORT, TIME_ZONE = 'UTC' } = process.env;
const REMINDERS = join(BERTH_VOLUME, 'reminders.json');
const REMINDED = join(BERTH_VOLUME, 'reminded.txt');

const load = () => (existsSync(REMINDERS) ? JSON.parse(readFileSync(REMINDERS, 'utf8')) : []);

/** A reader sees the old file or the new one. */
const save = (reminders) => {
  writeFileSync(`${REMINDERS}.new`, JSON.stringify(reminders));
  renameSync(`${REMINDERS}.new`, REMINDERS);
};

/** Replaces the list that Berth has; an empty one clears it. */
const publish = async (reminders) => {
  const entries = reminders.map(({ id, cron, tz, nextRunAt, what }) => ({
    id,
    cron,
    tz,
    nextRunAt,
    prompt: what,
  }));
  const response = await fetch(`${BERTH_API_URL}/agent/v1/schedules`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${BERTH_AGENT_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ entries }),
  });
  if (!response.ok) throw new Error(`Berth refused the reminders: ${await response.text()}`);
};

const remember = async (reminder) => {
  const reminders = [...load(), { id: `reminder-${Date.now()}`, ...reminder }];
  await publish(reminders);
  save(reminders);
  const when = reminder.nextRunAt ?? `${reminder.cron} (${reminder.tz})`;
  return `I will remind you to ${reminder.what}: ${when}. Until then I sleep.`;
};

/** Berth woke this agent and handed the prompt over; a reminder that fires once is forgotten then. */
const greet = (what, conversationId) => {
  const id = conversationId.replace(/^schedule-/, '');
  save(load().filter((one) => one.id !== id || one.cron !== undefined));
  appendFileSync(REMINDED, `${new Date().toISOString()} ${what}\n`);
  return `Hello! It is time to ${what}.`;
};

const answer = async ({ message, conversation_id: conversationId, source }) => {
  if (source === 'schedule') return greet(message, conversationId);
  const command = parse(message, { now: Date.now(), timeZone: TIME_ZONE });
  switch (command.kind) {
    case 'remind':
      return remember(command.reminder);
    case 'list':
      return (
        load()
          .map(({ what, nextRunAt, cron }) => `${nextRunAt ?? cron}: ${what}`)
          .join('\n') || 'Nothing.'
      );
    case 'reminded':
      return existsSync(REMINDED)
        ? readFileSync(REMINDED, 'utf8').trim()
        : 'I have not reminded you of anything yet.';
    case 'forget':
      await publish([]);
      save([]);
      return 'I have forgotten all reminders.';
    default:
      return 'Say "remind me in 2 minutes to stretch", "every weekday at 9 plan the day", "list", "history" or "forget".';
  }
};

const json = (response, status, body) => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};

const chat = async (request, response) => {
  try {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = await answer(JSON.parse(Buffer.concat(chunks).toString('utf8')));
    console.log(JSON.stringify({ level: 'info', message: 'answered a message' }));
    json(response, 200, { response: text });
  } catch (error) {
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
  console.log(JSON.stringify({ level: 'info', message: 'the reminder agent is listening' }));
});
process.on('SIGTERM', () => {
  server.close(() => process.exit(0));
  server.closeAllConnections();
});
