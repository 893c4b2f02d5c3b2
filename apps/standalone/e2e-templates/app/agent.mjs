// A web app whose paths do what their names say. LISTEN_ON is the address that it listens on.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';

const json = (response, body, headers = {}) => {
  response.writeHead(200, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
};

const digest = async (request) => {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    hash.update(chunk);
  }
  return { bytes, sha256: hash.digest('hex') };
};

const routes = {
  '/health': (_request, response) => json(response, { status: 'ok' }),
  '/chat': (_request, response) => json(response, { response: 'chatted' }),
  '/schedules': (_request, response) => json(response, []),
  '/seen': ({ method, url, rawHeaders }, response) => json(response, { method, url, rawHeaders }),
  '/digest': async (request, response) => json(response, await digest(request)),
  '/bytes': (request, response) => {
    let left = Number(new URL(request.url, 'http://app').searchParams.get('count'));
    const chunk = Buffer.alloc(65_536, 'x');
    const more = () => {
      while (left > 0) {
        const size = Math.min(left, chunk.length);
        left -= size;
        if (!response.write(chunk.subarray(0, size))) return response.once('drain', more);
      }
      return response.end();
    };
    more();
  },
  '/events': (request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: first\n\n');
    const timer = setInterval(() => response.write('data: next\n\n'), 100);
    response.on('close', () => {
      clearInterval(timer);
      console.log(JSON.stringify({ level: 'info', message: `the reader of ${request.url} left` }));
    });
  },
  '/stop-listening': (_request, response) => {
    server.close();
    json(response, {}, { connection: 'close' });
  },
};

const server = createServer((request, response) => {
  const route = routes[request.url.split('?')[0]];
  if (route === undefined) response.writeHead(404).end('no such page');
  else void route(request, response);
});

/** Echoes the payload of each text frame of fewer than 126 bytes. */
server.on('upgrade', (request, socket, head) => {
  const accept = createHash('sha1')
    .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  socket.on('error', () => socket.destroy());
  let bytes = head;
  socket.on('data', (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    while (bytes.length >= 6 && bytes.length >= 6 + (bytes[1] & 127)) {
      const length = bytes[1] & 127;
      const mask = bytes.subarray(2, 6);
      const payload = Buffer.from(bytes.subarray(6, 6 + length).map((byte, at) => byte ^ mask[at % 4]));
      socket.write(Buffer.concat([Buffer.from([bytes[0], length]), payload]));
      bytes = bytes.subarray(6 + length);
    }
  });
});

server.listen({ port: Number(process.env.PORT), host: process.env.LISTEN_ON || '127.0.0.1' });
process.on('SIGTERM', () => process.exit(0));
