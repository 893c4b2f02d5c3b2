import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { Readable } from 'node:stream';

/** A tool of this host ended with a failure. */
export class ToolFailure extends Error {
  constructor(
    program: string,
    readonly output: string,
    /** The beginning of what the tool printed about the failure. */
    readonly complaint: string,
  ) {
    const [first = ''] = complaint.trim().split('\n');
    super(`${program} failed: ${first.slice(-MESSAGE_CHARACTERS)}`);
  }
}

/** A tool may complain about every file of a tree, and name each by a path of 4,096 bytes before it says why. */
const COMPLAINT_CHARACTERS = 65_536;
const MESSAGE_CHARACTERS = 500;

/** Runs a tool of this host to its end, and returns its output. Errors: `ToolFailure`; those of spawn. */
export const runTool = async (program: string, args: readonly string[]): Promise<string> => {
  // Complaints are in English.
  const child = spawn('env', ['LC_ALL=C', program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [output, complaint, [code]] = await Promise.all([
    text(child.stdout),
    beginningOf(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  if (code !== 0) throw new ToolFailure(program, output, complaint);
  return output;
};

const beginningOf = async (stream: Readable): Promise<string> => {
  let beginning = '';
  for await (const chunk of stream.setEncoding('utf8'))
    if (beginning.length < COMPLAINT_CHARACTERS) beginning += String(chunk);
  return beginning.slice(0, COMPLAINT_CHARACTERS);
};
