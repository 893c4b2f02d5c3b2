import { StringDecoder } from 'node:string_decoder';
import type { TaskEnd } from '../driver/task-spec.js';
import { problemOf } from './task-problem.js';

/** The beginning of a line with the reason why a Dockerfile could not be built. */
const ERROR = /^(?:error|ERROR): (?:failed to solve: )?(.*)$/;
const DAEMON_ENDED = /code = Unavailable/;
const KILLED = /exit code: 137\b/;
const MEMORY = 'it may have needed more memory than the agent has';
const MAX_CHARS = 400;

/** Finds out from the output of BuildKit why a build failed. */
export class BuildSummary {
  readonly #decoder = new StringDecoder('utf8');
  #line = '';
  #error: string | undefined;

  add(chunk: Buffer): void {
    const lines = (this.#line + this.#decoder.write(chunk)).split(/\r?\n/);
    this.#line = (lines.pop() ?? '').slice(0, MAX_CHARS);
    for (const line of lines) this.#error = ERROR.exec(line)?.[1]?.slice(0, MAX_CHARS) ?? this.#error;
  }

  /** One sentence about a build that has made no image. */
  problemOf(end: TaskEnd): string {
    if (end.how !== 'exited' || this.#error === undefined)
      return `The build of the Dockerfile ${problemOf(end) ?? 'made no image'}.`;
    if (DAEMON_ENDED.test(this.#error)) return `BuildKit ended before the build; ${MEMORY}.`;
    return `The Dockerfile could not be built: ${this.#error}${KILLED.test(this.#error) ? ` (${MEMORY})` : ''}.`;
  }
}
