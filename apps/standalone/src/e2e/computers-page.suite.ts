import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ActionsAnswer } from '@berth/contracts/computers';
import { afterAll, describe, expect, it } from 'vitest';
import { sizeOfPng } from './computers.fixture.js';
import { commandsOfPage, readPage } from './page-commands.fixture.js';
import { temporaryFolder, type Stack } from './stack.fixture.js';

/** docs/computers.md, command by command. */
export const describeComputersPage = (stack: () => Stack): void => {
  describe('docs/computers.md', () => {
    const folder = temporaryFolder();
    afterAll(() => folder.remove());
    const file = (name: string): Buffer => readFileSync(join(folder.path, name));

    it('has only commands that work, in their order', async () => {
      const { urls, dataDir } = stack();
      // The tests' machine is set up; `npm run berth` would build.
      const scripts = [...commandsOfPage(readPage('computers.md'))].filter(
        ([heading]) => heading !== 'Software',
      );
      const script = scripts
        .map(([, commands]) => commands)
        .join('')
        .replaceAll('http://localhost:8080', urls[0] ?? '')
        .replaceAll('.data/', `${dataDir}/`);
      const { stdout } = await promisify(execFile)('sh', ['-eu', '-c', script], { cwd: folder.path });
      expect(sizeOfPng(file('screen.png'))).toEqual({ width: 1_280, height: 800 });
      expect(existsSync(join(folder.path, 'small.jpg'))).toBe(true);
      const answer = JSON.parse(file('answer.json').toString()) as ActionsAnswer;
      expect(answer).toMatchObject({ failedIndex: null, screenshot: { format: 'png' } });
      const outputs = JSON.parse(file('outputs.json').toString()) as ActionsAnswer;
      expect(outputs.results.map(({ output }) => output?.type)).toEqual([
        'tool_result',
        'computer_call_output',
      ]);
      expect(JSON.parse(file('viewer.json').toString())).toMatchObject({ mode: 'control', takeover: true });
      expect(stdout).toMatch(/Zoë\\n:\d+/);
      expect(stdout).toContain('"x":300,"y":200');
    });
  });
};
