import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Env } from '@berth/config';
import { eventually } from '@berth/testing';

/** Runs a program on a terminal of its own; one JSON value a line in both directions. */
const RELAY = `
import fcntl, json, os, pty, signal, struct, sys, termios, threading
master, slave = pty.openpty()
def resize(rows, cols):
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', rows, cols, 0, 0))
lock = threading.Lock()
def tell(value):
    with lock:
        print(json.dumps(value), flush=True)
resize(30, 90)
before = termios.tcgetattr(slave)
child = os.fork()
if child == 0:
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for fd in (0, 1, 2):
        os.dup2(slave, fd)
    os.execvp(sys.argv[1], sys.argv[1:])
def show():
    try:
        while True:
            tell({'shown': os.read(master, 65536).decode('utf-8', 'replace')})
    except OSError:
        pass
def obey():
    for line in sys.stdin:
        order = json.loads(line)
        if 'keys' in order: os.write(master, order['keys'].encode())
        if 'size' in order: resize(*order['size'])
        if 'signal' in order: os.kill(child, getattr(signal, order['signal']))
screen = threading.Thread(target=show, daemon=True)
for thread in (screen, threading.Thread(target=obey, daemon=True)):
    thread.start()
_, status = os.waitpid(child, 0)
code = os.waitstatus_to_exitcode(status)
restored = termios.tcgetattr(slave) == before
# The last output is read before the terminal is gone.
os.close(slave)
screen.join()
tell({'code': code, 'restored': restored})
os._exit(0)
`;

interface Told {
  readonly shown?: string;
  readonly code?: number;
  readonly restored?: boolean;
}

/** The end of a program on a terminal: its exit code, or minus its signal, and whether the terminal was restored. */
export interface EndOnTerminal {
  readonly code: number;
  readonly restored: boolean;
}

/** A program on a real terminal of 30 rows and 90 columns; python3 provides it. */
export class PtyProgram {
  #shown = '';
  readonly ended: Promise<EndOnTerminal>;

  private constructor(private readonly relay: ChildProcess) {
    const { promise, resolve, reject } = Promise.withResolvers<EndOnTerminal>();
    this.ended = promise;
    const { stdout } = relay;
    if (stdout === null) throw new Error('The output of the relay is not a pipe.');
    createInterface({ input: stdout }).on('line', (line) => {
      const { shown, code, restored } = JSON.parse(line) as Told;
      this.#shown += shown ?? '';
      if (code !== undefined) resolve({ code, restored: restored === true });
    });
    // An order may come after the end.
    relay.stdin?.on('error', () => undefined);
    relay.once('exit', () => reject(new Error(`The relay ended early after showing:\n${this.#shown}`)));
  }

  static run(command: readonly string[], env: Env): PtyProgram {
    const stdio = ['pipe', 'pipe', 'inherit'] as const;
    return new PtyProgram(
      spawn('python3', ['-c', RELAY, ...command], { env: { ...process.env, ...env }, stdio: [...stdio] }),
    );
  }

  /** Everything that the terminal has shown. */
  get shown(): string {
    return this.#shown;
  }

  async untilShown(pattern: RegExp): Promise<void> {
    await eventually(() => pattern.test(this.#shown), { timeoutMs: 15_000 }).catch((error: unknown) => {
      throw new Error(`${String(pattern)} is not in:\n${this.#shown}`, { cause: error });
    });
  }

  press(keys: string): void {
    this.#order({ keys });
  }

  resize(rows: number, columns: number): void {
    this.#order({ size: [rows, columns] });
  }

  signal(name: NodeJS.Signals): void {
    this.#order({ signal: name });
  }

  #order(order: object): void {
    this.relay.stdin?.write(`${JSON.stringify(order)}\n`);
  }
}
