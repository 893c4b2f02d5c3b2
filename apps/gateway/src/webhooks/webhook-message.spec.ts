import { describe, expect, it } from 'vitest';
import { messageOf } from './webhook-message.js';

const of = (body: string | readonly number[]): string =>
  messageOf(typeof body === 'string' ? Buffer.from(body) : Uint8Array.from(body));

describe('the message of a webhook', () => {
  it('is the text "message" of a JSON object', () => {
    expect(of(' \n{"message": "hi\\u0000\\ud83d\\ude00", "conversation_id": "mine"}')).toBe('hi\u0000😀');
    expect(of('{"message": ""}')).toBe('');
  });

  it('is that of JSON with a byte order mark, which other text keeps', () => {
    expect(of('\ufeff{"message": "hi"}')).toBe('hi');
    expect(of('\ufeffhi')).toBe('\ufeffhi');
  });

  it.each([
    '',
    'plain text',
    'message=hi&a=b',
    '{"message": 5}',
    '{"text": "hi"}',
    '{"message": "hi"',
    '["message"]',
    '"message"',
    'null',
    '{"__proto__": {"message": "hi"}}',
  ])('is the text of any other body: %j', (body) => expect(of(body)).toBe(body));

  it('has U+FFFD for bytes that are not UTF-8', () => {
    expect(of([0x61, 0xff, 0x62, 0xc3])).toBe('a\ufffdb\ufffd');
    expect(of([...Buffer.from('{"message": "a'), 0xfe, ...Buffer.from('"}')])).toBe('a\ufffd');
  });
});
