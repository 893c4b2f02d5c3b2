import { describe, expect, it } from 'vitest';
import { CHAT, MESSAGES, RESPONSES } from '../fixtures/models.fixture.js';
import { refusedBeta, unsupportedIn } from './unsupported-parameters.js';

const REFUSED = { status: 400, type: 'invalid_request_error', code: 'unsupported_parameter' };
const user = (part: object) => [{ role: 'user', content: [part] }];

describe('a call is refused', () => {
  it.each([
    ['background', { background: true }],
    ['previous_response_id', { previous_response_id: 'resp_1' }],
    ['conversation', { conversation: { id: 'conv_1' } }],
    ['prompt', { prompt: { id: 'pmpt_1' } }],
    ['container', { container: 'container_1' }],
    ['web_search_options', { web_search_options: {} }],
    ['mcp_servers', { mcp_servers: [{ type: 'url', url: 'https://a' }] }],
    ['audio', { audio: { voice: 'v', format: 'wav' } }],
    ['inference_geo', { inference_geo: 'us' }],
    ['prediction', { prediction: { type: 'content', content: 'x' } }],
    ['search_parameters', { search_parameters: { mode: 'on' } }],
    ['plugins', { plugins: [{ id: 'web' }] }],
    ['models', { models: ['dear'] }],
    ['web_search_options', { web_search_options: [] }],
    ['enable_search', { enable_search: true }],
    ['extra_body', { extra_body: {} }],
    ['speed', { speed: 'fast' }],
    ['Model', { model: 'cheap', Model: 'dear' }],
    ['N', { N: 9 }],
    ['\u017Ftore', { '\u017Ftore': true }],
    ['Output other than text', { modalities: ['text', 'audio'] }],
    ['Output other than text', { modalities: ['image'] }],
  ])('for its member: %s', (what, body) => {
    for (const operation of [CHAT, RESPONSES, MESSAGES]) {
      const refusal = unsupportedIn(body, operation);
      expect(refusal).toMatchObject(REFUSED);
      expect(refusal?.message).toContain(what);
    }
  });

  it.each([
    [RESPONSES, 'item_reference', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
    [RESPONSES, 'item_reference', { input: [{ id: 'msg_1' }] }],
    [RESPONSES, 'item_reference', { input: [{ id: 'msg_1', type: null }] }],
    [RESPONSES, 'mcp_approval_response', { input: [{ type: 'mcp_approval_response' }] }],
    [RESPONSES, 'image_generation_call', { input: [{ type: 'image_generation_call', id: 'ig_1' }] }],
    [RESPONSES, 'file_id', { input: user({ type: 'input_file', file_id: 'file_1' }) }],
    [RESPONSES, 'file_id', { input: user({ type: 'input_image', file_id: 'file_1' }) }],
    [RESPONSES, 'file_id', { input: [{ type: 'computer_call_output', output: { file_id: 'file_1' } }] }],
    [CHAT, 'file_id', { messages: user({ type: 'file', file: { file_id: 'file_1' } }) }],
    [CHAT, 'audio.id', { messages: [{ role: 'assistant', audio: { id: 'audio_1' } }] }],
    [
      MESSAGES,
      'file_id',
      { messages: user({ type: 'document', source: { type: 'file', file_id: 'file_1' } }) },
    ],
    [MESSAGES, 'file_id', { messages: user({ type: 'container_upload', file_id: 'file_1' }) }],
    [
      MESSAGES,
      'file_id',
      { messages: user({ type: 'tool_result', content: [{ source: { file_id: 'f' } }] }) },
    ],
    [MESSAGES, 'file_id', { system: [{ type: 'document', source: { file_id: 'file_1' } }] }],
    [MESSAGES, 'mcp_tool_use', { messages: user({ type: 'mcp_tool_use', input: {} }) }],
  ])('for a reference to what is stored: $1 in $2', (operation, what, body) => {
    const refusal = unsupportedIn(body, operation);
    expect(refusal).toMatchObject(REFUSED);
    expect(refusal?.message).toContain(what);
  });

  it.each(
    [
      'web_search',
      'web_search_preview',
      'web_search_preview_2025_03_11',
      'file_search',
      'code_interpreter',
      'image_generation',
      'mcp',
      'shell',
      'tomorrows_tool',
      'function_search',
      7,
    ].map((type) => [type]),
  )('for a hosted tool of the OpenAI dialect: %j', (type) => {
    const tools = [{ type: 'function', function: { name: 'f' } }, { type }];
    expect(unsupportedIn({ tools }, CHAT)).toMatchObject(REFUSED);
    expect(unsupportedIn({ tools }, RESPONSES)).toMatchObject(REFUSED);
  });

  it.each(
    ['web_search_20250305', 'web_fetch_20250910', 'code_execution_20250825', 'mcp_toolset', 'function'].map(
      (type) => [type],
    ),
  )('for a hosted tool of the Anthropic dialect: %s', (type) => {
    const tools = [
      { name: 'f', input_schema: {} },
      { type, name: 'x' },
    ];
    expect(unsupportedIn({ tools }, MESSAGES)).toMatchObject(REFUSED);
  });

  it('for a tool that is no object', () => {
    expect(unsupportedIn({ tools: ['web_search'] }, RESPONSES)).toMatchObject(REFUSED);
  });
});

describe('a call is sent', () => {
  it.each([
    [RESPONSES, { background: false, previous_response_id: null, conversation: null, prompt: null }],
    [MESSAGES, { speed: 'standard' }],
    [CHAT, { prediction: null, topK: 3, Tomorrow: true }],
    [CHAT, { enable_search: false, plugins: [], models: [], fallbacks: [], data_sources: [] }],
    [MESSAGES, { mcp_servers: [] }],
    [CHAT, { web_search_options: null, audio: null, modalities: ['text'], tools: [] }],
    [CHAT, { tools: [{ type: 'function', function: { name: 'f', parameters: { file_id: {} } } }] }],
    [CHAT, { tools: [{ type: 'custom', custom: { name: 'c' } }] }],
    [
      RESPONSES,
      { tools: [{ type: 'function', name: 'f' }, { type: 'local_shell' }, { type: 'apply_patch' }] },
    ],
    [MESSAGES, { tools: [{ name: 'f', input_schema: { properties: { file_id: {} } } }] }],
    [MESSAGES, { tools: [{ type: 'custom', name: 'f' }] }],
    [MESSAGES, { tools: [{ type: 'bash_20250124' }, { type: 'text_editor_20250728' }] }],
    [MESSAGES, { tools: [{ type: 'computer_20250124' }, { type: 'memory_20250818' }] }],
    [RESPONSES, { input: 'text' }],
    [RESPONSES, { input: [{ id: 'msg_1', role: 'assistant', content: 'x' }] }],
    [RESPONSES, { input: [{ id: 'rs_1', type: 'reasoning', summary: [] }] }],
  ])('with null, what asks for nothing, tools of the program and whole items: $1', (operation, body) => {
    expect(unsupportedIn(body, operation)).toBeUndefined();
  });

  it.each([
    [MESSAGES, { messages: user({ type: 'tool_use', input: { file_id: 'x', type: 'item_reference' } }) }],
    [RESPONSES, { input: [{ type: 'function_call', arguments: { file_id: 'x' } }] }],
    [CHAT, { messages: user({ type: 'text', text: '{"file_id": "x", "type": "item_reference"}' }) }],
    [CHAT, { messages: user({ type: 'file', file: { file_id: null, file_data: 'AAAA' } }) }],
  ])('whatever programs and models wrote into it: $1', (operation, body) => {
    expect(unsupportedIn(body, operation)).toBeUndefined();
  });
});

describe('a value of `anthropic-beta`', () => {
  it('is refused unless the model allows it, wherever in the header it stands', () => {
    expect(refusedBeta('a-1, b-2', ['a-1'])).toBe('b-2');
    expect(refusedBeta('b-2,a-1', ['a-1'])).toBe('b-2');
    expect(refusedBeta('a-12', ['a-1'])).toBe('a-12');
    expect(refusedBeta('a-1', [])).toBe('a-1');
  });

  it('passes if the model allows it', () => {
    expect(refusedBeta(' a-1 ,b-2,, ', ['b-2', 'a-1'])).toBeUndefined();
    expect(refusedBeta(undefined, [])).toBeUndefined();
    expect(refusedBeta('', [])).toBeUndefined();
  });
});
