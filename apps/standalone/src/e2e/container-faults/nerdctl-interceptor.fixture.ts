import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Step } from './plan.fixture.js';

/** A script in place of nerdctl, which pauses the call that `arm` names in the phase that it names. */
const script = (folder: string): string => `#!/bin/sh
cd '${folder}' || exit 125
echo "$*" >> calls
for word; do case $word in --*) ;; *) command=$word; break;; esac; done
mv "armed-$command" "taken-$$" 2>/dev/null || { cd /; exec nerdctl "$@"; }
read -r phase < "taken-$$"
arrive() { echo "$$" > arriving; mv arriving arrived; }
pass() { until [ -e gate ]; do sleep 0.01; done; }
case $phase in
  before) arrive; pass; exec nerdctl "$@";;
  within) arrive; exec nerdctl "$@";;
  after) nerdctl "$@" > out 2> err; code=$?; arrive; pass; cat out; cat err >&2; exit $code;;
esac
`;

/** Intercepts the calls of one installation to nerdctl: records them, and pauses one on demand. */
export class NerdctlInterceptor {
  /** The path of the script. */
  readonly program: string;

  constructor(private readonly folder: string) {
    mkdirSync(folder);
    this.program = join(folder, 'nerdctl');
    writeFileSync(this.program, script(folder));
    chmodSync(this.program, 0o755);
    writeFileSync(join(folder, 'calls'), '');
  }

  /** Makes the next call of the step's kind pause in the step's phase. */
  arm({ call, phase }: Step): void {
    this.disarm();
    rmSync(join(this.folder, 'gate'), { force: true });
    rmSync(join(this.folder, 'arrived'), { force: true });
    writeFileSync(join(this.folder, `armed-${call}`), `${phase}\n`);
  }

  /** Lets the paused call continue, and makes no later call pause. */
  disarm(): void {
    for (const call of ['run', 'create', 'start', 'rm', 'pull', 'image', 'tag', 'load'])
      rmSync(join(this.folder, `armed-${call}`), { force: true });
    this.openGate();
  }

  openGate(): void {
    writeFileSync(join(this.folder, 'gate'), '');
  }

  /** Waits for a call to reach its phase and returns its process id; undefined if `end` aborts before that. */
  async arrival(end: AbortSignal): Promise<number | undefined> {
    const file = join(this.folder, 'arrived');
    while (!end.aborted) {
      if (existsSync(file)) return Number(readFileSync(file, 'utf8'));
      await delay(2);
    }
    return undefined;
  }

  /** The command lines of all calls. */
  get calls(): string {
    return readFileSync(join(this.folder, 'calls'), 'utf8');
  }
}
