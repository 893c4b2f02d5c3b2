import { expect, it } from 'vitest';
import { BuildLog } from './build-log.js';

const written = async (chunks: readonly Buffer[]): Promise<readonly string[]> => {
  const messages: string[] = [];
  const log = new BuildLog('agt_1', {
    addBuild: (_agentId, entries) => {
      messages.push(...entries.map(({ message }) => message));
      return Promise.resolve();
    },
  });
  for (const chunk of chunks) log.addOutput(chunk);
  await log.flush();
  return messages;
};

it('a line ending that arrives in two chunks ends one line', async () => {
  expect(await written([Buffer.from('one\r'), Buffer.from('\ntwo\r'), Buffer.from('three')])).toEqual([
    'one',
    'two',
    'three',
  ]);
});

it('an incomplete last character is logged as U+FFFD', async () => {
  expect(await written([Buffer.from('price: '), Buffer.from('€').subarray(0, 2)])).toEqual(['price: \uFFFD']);
});

it('output that ends with a carriage return has no empty last line', async () => {
  expect(await written([Buffer.from('done\r')])).toEqual(['done']);
});
