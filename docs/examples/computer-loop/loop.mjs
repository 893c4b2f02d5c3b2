// Lets a model use a computer of Berth, see README.md. What the model sends goes to Berth unchanged, and what Berth answers
// goes back to the model unchanged.
import { createInterface } from 'node:readline/promises';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';

const { BERTH_URL = 'http://localhost:8080', BERTH_API_KEY, COMPUTER, MODEL: model } = process.env;
const [vendor, task] = process.argv.slice(2);

const berth = async (method, path = '', body) => {
  const headers = { authorization: `Bearer ${BERTH_API_KEY}`, 'content-type': 'application/json' };
  const url = `${BERTH_URL}/api/v1/computers/${COMPUTER}${path}`;
  const response = await fetch(url, { method, headers, body: body && JSON.stringify(body) });
  return { status: response.status, ...(await response.json()) };
};

const { display } = await berth('GET');
/** Vendors shrink larger images, and models then click beside what they mean. */
const scale = Math.min(1, 1280 / display.width, 800 / display.height);

/** Carries out tool_use blocks or computer_call items, and returns the output of each. */
const act = async (actions, acknowledged = []) => {
  const batch = { actions, scale, acknowledged_safety_checks: acknowledged };
  const { status, results, skipped, detail } = await berth('POST', '/actions', batch);
  if (status === 200) return [...results, ...skipped].map(({ output }) => output);
  if (detail.code === 'safety_check_pending')
    return act(actions, await askPerson(detail.pending_safety_checks));
  // The model sees what is wrong with its blocks, and tries again.
  if (detail.outputs?.length === actions.length) return detail.outputs;
  throw new Error(`${detail.code}: ${detail.message}`);
};

const askPerson = async (checks) => {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const warnings = checks.map(({ code, message }) => message ?? code).join('\n');
  const answer = await terminal.question(`${warnings}\nGo on? [y/N] `);
  terminal.close();
  if (answer !== 'y') throw new Error('A person has ended the task.');
  return checks;
};

const withAnthropic = async () => {
  const [width, height] = [display.width, display.height].map((side) => Math.round(side * scale));
  const computer = { display_width_px: width, display_height_px: height, enable_zoom: true };
  const tools = [{ type: 'computer_20251124', name: 'computer', ...computer }];
  const request = { model, max_tokens: 4_096, tools, betas: ['computer-use-2025-11-24'] };
  const messages = [{ role: 'user', content: task }];
  for (;;) {
    const { content } = await new Anthropic().beta.messages.create({ ...request, messages });
    const blocks = content.filter(({ type }) => type === 'tool_use');
    if (blocks.length === 0) return content.map(({ text }) => text).join('');
    messages.push({ role: 'assistant', content }, { role: 'user', content: await act(blocks) });
  }
};

const withOpenAI = async () => {
  const request = { model, tools: [{ type: 'computer' }], truncation: 'auto' };
  let response = await new OpenAI().responses.create({ ...request, input: task });
  for (;;) {
    const items = response.output.filter(({ type }) => type === 'computer_call');
    if (items.length === 0) return response.output_text;
    const next = { ...request, previous_response_id: response.id, input: await act(items) };
    response = await new OpenAI().responses.create(next);
  }
};

console.log(await (vendor === 'openai' ? withOpenAI() : withAnthropic()));
