import type { StartedBox } from '../../driver-contract/driver.fixture.js';

/** What an agent tries to reach. */
export interface Target {
  readonly host: string;
  readonly port: number;
  readonly by: 'tcp' | 'udp';
}

export interface Attempt extends Target {
  /** `open`, `silent`, or the code of the error. */
  readonly outcome: string;
  readonly ms: number;
}

const SILENT_AFTER_MS = 2_500;

export const tcp = (host: string, port = 80): Target => ({ host, port, by: 'tcp' });
export const udp = (host: string, port = 80): Target => ({ host, port, by: 'udp' });

/** Runs in the agent's container, as a program of the agent. */
const SCRIPT = `
const net = require('node:net'), dgram = require('node:dgram');
const tcp = ({ host, port }, done) => {
  const socket = net.connect({ host, port, autoSelectFamily: false });
  socket.on('error', (error) => done(error.code));
  // Data of the far end, not the connection alone.
  socket.on('data', () => (done('open'), socket.destroy()));
  return () => socket.destroy();
};
const udp = ({ host, port }, done) => {
  const socket = dgram.createSocket(net.isIPv6(host) ? 'udp6' : 'udp4');
  socket.on('error', (error) => done(error.code));
  socket.on('message', () => done('open'));
  socket.connect(port, host, (error) => error ? done(error.code) : socket.send(host));
  return () => { try { socket.close(); } catch {} };
};
const attempt = (target) => new Promise((resolve) => {
  const at = performance.now();
  const done = (outcome) => { clearTimeout(timer); end?.(); resolve({ ...target, outcome, ms: Math.round(performance.now() - at) }); };
  const timer = setTimeout(() => done('silent'), ${SILENT_AFTER_MS});
  let end;
  end = (target.by === 'tcp' ? tcp : udp)(target, done);
});
Promise.all(JSON.parse(process.argv[1]).map(attempt)).then((all) => console.log(JSON.stringify(all)));
`;

/** Tries all targets at once from inside. */
export const attemptFrom = async (
  started: StartedBox,
  targets: readonly Target[],
): Promise<readonly Attempt[]> => {
  const { stdout, stderr } = await started.run(`node -e '${quoted(SCRIPT)}' '${JSON.stringify(targets)}'`);
  if (stdout === null || stdout === '') throw new Error(`The probe failed: ${stderr ?? ''}`);
  return JSON.parse(stdout) as readonly Attempt[];
};

/** For a shell, within single quotes. */
const quoted = (text: string): string => text.replaceAll("'", `'"'"'`);
