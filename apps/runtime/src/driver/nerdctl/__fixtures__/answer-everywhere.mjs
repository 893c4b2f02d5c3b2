import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

// The far end of the test's cable: responds on every address by TCP and UDP on some ports, and prints a line for each
// contact. On port 53 it is a resolver: the name `a-1-2-3-4.test` has the address 1.2.3.4, and `six.test` has an IPv6
// address of a private network.
const PORTS = [80, 5432];
// Responses by UDP have the address that they were sent to only if the socket is bound to it.
const [RESOLVER, ...PUBLIC] = process.argv.slice(2);

const write = (line) => process.stdout.write(`${line}\n`);

const plain = (address) => address.replace(/^::ffff:/, '');

for (const port of PORTS) {
  createServer((socket) => {
    socket.on('error', () => undefined);
    write(`tcp ${plain(socket.localAddress ?? '?')} ${port}`);
    socket.end(`HTTP/1.0 200 OK\r\n\r\nfrom ${plain(socket.remoteAddress ?? '?')}`);
  }).listen(port, '::');
  for (const own of ['::', ...PUBLIC]) {
    const udp = createSocket({ type: own.includes(':') ? 'udp6' : 'udp4', reuseAddr: true });
    udp.on('message', (message, { address, port: to }) => {
      write(`udp ${message.toString()} ${port}`);
      udp.send('heard', to, address);
    });
    udp.bind(port, own);
  }
}

const response = (query) => {
  const labels = [];
  let at = 12;
  while (query[at] !== 0) {
    labels.push(query.subarray(at + 1, at + 1 + query[at]).toString());
    at += 1 + query[at];
  }
  const type = query.readUInt16BE(at + 1);
  const question = query.subarray(12, at + 5);
  write(`dns ${labels.join('.')} ${type}`);
  const four = /^a-(\d+)-(\d+)-(\d+)-(\d+)$/
    .exec(labels[0] ?? '')
    ?.slice(1)
    .map(Number);
  const data =
    type === 1 && four !== undefined
      ? Buffer.from(four)
      : type === 28 && labels[0] === 'six'
        ? Buffer.from('fd112233445566778899aabbccddeeff', 'hex')
        : null;
  const header = Buffer.alloc(12);
  header.writeUInt16BE(query.readUInt16BE(0), 0);
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(data === null ? 0 : 1, 6);
  if (data === null) return Buffer.concat([header, question]);
  const record = Buffer.alloc(12);
  record.writeUInt16BE(0xc00c, 0);
  record.writeUInt16BE(type, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt32BE(1, 6);
  record.writeUInt16BE(data.length, 10);
  return Buffer.concat([header, question, record, data]);
};

const dns = createSocket('udp4');
dns.on('message', (query, { address, port }) => dns.send(response(query), port, address));
dns.bind(53, RESOLVER);
createServer((socket) => {
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    const answer = response(chunk.subarray(2));
    const length = Buffer.alloc(2);
    length.writeUInt16BE(answer.length);
    socket.write(Buffer.concat([length, answer]));
  });
}).listen(53, RESOLVER, () => write('ready'));
