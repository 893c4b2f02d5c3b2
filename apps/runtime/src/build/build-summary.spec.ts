import { describe, expect, it } from 'vitest';
import { BuildSummary } from './build-summary.js';

const problemAfter = (output: string, code = 1): string => {
  const summary = new BuildSummary();
  // In pieces, so that lines are split across chunks.
  for (let at = 0; at < output.length; at += 7) summary.add(Buffer.from(output.slice(at, at + 7)));
  return summary.problemOf({ how: 'exited', code });
};

describe('why a Dockerfile could not be built', () => {
  it('is the last error of BuildKit', () => {
    const output =
      '#5 0.1 error: not this one\nerror: first\nerror: failed to solve: process "make" exit code: 2\n#6 x\n';
    expect(problemAfter(output)).toBe('The Dockerfile could not be built: process "make" exit code: 2.');
  });

  it('names memory where the kernel may have killed a step or BuildKit for it', () => {
    expect(problemAfter('error: failed to solve: process "x" exit code: 137\n')).toContain('more memory');
    expect(problemAfter('error: rpc error: code = Unavailable desc = EOF\n')).toContain('more memory');
    expect(problemAfter('error: failed to solve: exit code: 1370\n')).not.toContain('memory');
  });

  it('is the exit status of the build if BuildKit prints nothing', () => {
    expect(problemAfter('#1 done\n', 125)).toBe('The build of the Dockerfile exited with code 125.');
    expect(new BuildSummary().problemOf({ how: 'disk_full' })).toContain('stored more than a build may');
  });

  it('is short', () => {
    expect(problemAfter(`error: ${'x'.repeat(100_000)}\n`).length).toBeLessThan(600);
  });
});
