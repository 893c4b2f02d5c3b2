// An agent is any program that serves HTTP on $PORT. This one echoes each message.
import { createServer } from 'node:http';

const json = (response, status, body) => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};

const readJson = async (request) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
};

const chat = async (request, response) => {
  const body = await readJson(request).catch(() => undefined);
  if (typeof body?.message !== 'string') return json(response, 400, { error: 'message must be a text' });
  console.log(
    JSON.stringify({ level: 'info', message: `answered a message of ${body.message.length} characters` }),
  );
  json(response, 200, { response: `echo: ${body.message}` });
};

const server = createServer((request, response) => {
  const route = `${request.method} ${request.url?.split('?')[0]}`;
  if (route === 'POST /chat') chat(request, response).catch(() => response.destroy());
  else if (route === 'GET /health') json(response, 200, { status: 'ok' });
  else if (route === 'GET /schedules') json(response, 200, []);
  else json(response, 404, { error: 'not found' });
});

server.listen(Number(process.env.PORT), '127.0.0.1', () => {
  console.log(JSON.stringify({ level: 'info', message: 'the echo agent is listening' }));
});
process.on('SIGTERM', () => {
  server.close(() => process.exit(0));
  server.closeAllConnections();
});
