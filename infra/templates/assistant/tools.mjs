// What the model may do on its own computer. A failed call returns its reason to the model.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { jsonSchema, tool } from 'ai';

const TIMEOUT_MS = 300_000;
const MAX_OUTPUT = 20_000;
const HOME = process.env.BERTH_VOLUME;
// Commands that a model writes need no credential of Berth.
const { ANTHROPIC_API_KEY, BERTH_AGENT_TOKEN, OPENAI_API_KEY, ...ENVIRONMENT } = process.env;

const shortened = (text) =>
  text.length <= MAX_OUTPUT
    ? text
    : `[${text.length - MAX_OUTPUT} characters omitted]\n${text.slice(-MAX_OUTPUT)}`;

/** In a process group of its own, so that a timeout reaches all of it. */
const runCommand = ({ command }) =>
  new Promise((done) => {
    const stdio = ['ignore', 'pipe', 'pipe'];
    const shell = spawn('sh', ['-c', command], { cwd: HOME, env: ENVIRONMENT, detached: true, stdio });
    const timer = setTimeout(() => process.kill(-shell.pid, 'SIGKILL'), TIMEOUT_MS);
    let output = '';
    const keep = (chunk) => (output = (output + chunk).slice(-10 * MAX_OUTPUT));
    shell.stdout.setEncoding('utf8').on('data', keep);
    shell.stderr.setEncoding('utf8').on('data', keep);
    shell.on('error', (error) => done({ error: error.message }));
    shell.on('exit', (exitCode, signal) => {
      clearTimeout(timer);
      setTimeout(() => done({ exitCode: exitCode ?? signal, output: shortened(output) }), 50);
    });
  });

const text = (description) => ({ type: 'string', description });
const define = (description, properties, execute) =>
  tool({
    description,
    inputSchema: jsonSchema({
      type: 'object',
      properties,
      required: Object.keys(properties),
      additionalProperties: false,
    }),
    execute,
  });

export const tools = {
  shell: define(
    'Runs a command with sh, for at most 5 minutes.',
    { command: text('The command') },
    runCommand,
  ),
  read_file: define(
    'Reads a text file.',
    { path: text('Absolute, or relative to your folder') },
    ({ path }) => shortened(readFileSync(resolve(HOME, path), 'utf8')),
  ),
  write_file: define(
    'Writes a text file, and the folders above it.',
    { path: text('Absolute, or relative to your folder'), content: text('The whole content') },
    ({ path, content }) => {
      const file = resolve(HOME, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
      return `Wrote ${file}.`;
    },
  ),
};
