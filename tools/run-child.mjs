import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';

// Plain JavaScript for Node 18 and newer, built-in modules only: this runs before anything is installed.

/** The exit code a shell shows for a child that ended with `code` or by `signal`. */
export function exitCodeOf(code, signal) {
  return signal ? 128 + (constants.signals[signal] ?? 0) : (code ?? 1);
}

/**
 * Runs a command to its end and resolves with its exit code. SIGTERM, SIGINT and SIGHUP to this process end the child
 * first (SIGKILL after `graceMs`) and then this process. With `hangUp: 'pass'`, SIGHUP is only passed on to the child.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{graceMs?: number, hangUp?: 'end' | 'pass', onChild?: (child: import('node:child_process').ChildProcess) => void}
 *   & import('node:child_process').SpawnOptions} options
 * @returns {Promise<number>}
 */
export function runChild(command, args, { graceMs = 9000, hangUp = 'end', onChild, ...options } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'inherit', ...options });
    let received;
    const end = (signal) => {
      if (received) return;
      received = signal;
      // The terminal sends Ctrl-C to the child as well, and a second signal would force it to exit at once.
      if (!(signal === 'SIGINT' && process.stdin.isTTY)) child.kill(signal);
      setTimeout(() => child.kill('SIGKILL'), graceMs).unref();
    };
    const passOn = (signal) => child.kill(signal);
    const handlers = [
      ['SIGTERM', end],
      ['SIGINT', end],
      ['SIGHUP', hangUp === 'pass' ? passOn : end],
    ];
    for (const [signal, handler] of handlers) process.on(signal, handler);
    const stopWatching = endWhenOrphaned(end);
    const done = () => {
      stopWatching();
      for (const [signal, handler] of handlers) process.removeListener(signal, handler);
    };
    child.once('error', (error) => {
      done();
      reject(error);
    });
    child.once('exit', (code, signal) => {
      done();
      if (received) process.exit(signal ? exitCodeOf(null, received) : (code ?? 1));
      resolve(exitCodeOf(code, signal));
    });
    onChild?.(child);
  });
}

/**
 * Ends this process when npm ends. npm sends SIGTERM to the shell between npm and us, and some shells exit without
 * forwarding it; a kill -9 is never forwarded. Outside npm a parent may exit on purpose (nohup, a daemon's start).
 */
function endWhenOrphaned(end) {
  if (!process.env.npm_lifecycle_event) return () => undefined;
  const before = npmAbove();
  const timer = setInterval(() => {
    if (npmAbove() !== before) end('SIGTERM');
  }, 300);
  timer.unref();
  return () => clearInterval(timer);
}

/** The ids of the processes up to npm, as text: our parent, and its parent if our parent is npm's shell. */
function npmAbove() {
  const parent = process.ppid;
  const isShell = readProc(parent, 'cmdline').split('\0')[1] === '-c';
  const stat = readProc(parent, 'stat');
  const grandparent = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1];
  return isShell ? `${parent} ${grandparent}` : `${parent}`;
}

function readProc(pid, name) {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}
