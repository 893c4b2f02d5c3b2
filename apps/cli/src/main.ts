import { run } from './run.js';

// `berth keys list | head` closes the pipe early; that is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

process.exitCode = await run(process.argv.slice(2), process.env, {
  out: process.stdout,
  err: process.stderr,
  input: process.stdin,
  ...(process.stdin.isTTY && process.stdout.isTTY
    ? { interactive: { input: process.stdin, output: process.stdout } }
    : {}),
});
