import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json, text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';

const LOOP = fileURLToPath(new URL('../../../../docs/examples/computer-loop/loop.mjs', import.meta.url));

/** A server on this machine that returns JSON; `path` is `METHOD /path`. */
export class JsonServer {
  private constructor(private readonly server: Server) {}

  static async start(
    respond: (path: string, body: unknown) => { readonly status: number; readonly body: unknown },
  ): Promise<JsonServer> {
    const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const body = request.method === 'GET' ? undefined : await json(request);
      const { status, body: out } = respond(`${request.method} ${request.url}`, body);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(out));
    };
    const server = createServer((request, response) => {
      answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new JsonServer(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

/** What a model of Anthropic asked for, turn by turn, as its API returned it. */
export const ANTHROPIC_TURNS: readonly (readonly Anthropic.Beta.BetaContentBlock[])[] = [
  [{ type: 'text', text: 'I look first.', citations: null }, block('A', { action: 'screenshot' })],
  [
    block('B', { action: 'left_click', coordinate: [200, 200] }),
    block('C', { action: 'type', text: 'Zoë — 東京\n' }),
    block('D', { action: 'cursor_position' }),
  ],
  // Beside the screen.
  [block('E', { action: 'left_click', coordinate: [9_999, 1] })],
  [block('F', { action: 'zoom', region: [0, 0, 400, 300] })],
  [{ type: 'text', text: 'It is done.', citations: null }],
];

function block(id: string, input: object): Anthropic.Beta.BetaToolUseBlock {
  return { type: 'tool_use', id: `toolu_${id}`, name: 'computer', input, caller: { type: 'direct' } };
}

const CHECK = { id: 'cu_sc_1', code: 'malicious_instructions', message: 'The page gives instructions.' };

/** The same of a model of OpenAI. */
export const OPENAI_TURNS: readonly (readonly OpenAI.Responses.ResponseOutputItem[])[] = [
  [item('call_1', [{ type: 'screenshot' }])],
  [
    item(
      'call_2',
      [
        { type: 'click', x: 200, y: 200, button: 'left', keys: null },
        { type: 'type', text: 'Zoë — 東京' },
        { type: 'keypress', keys: ['ENTER'] },
      ],
      [CHECK],
    ),
  ],
  [
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'It is done.', annotations: [] }],
    },
  ],
];

function item(
  callId: string,
  actions: OpenAI.Responses.ComputerActionList,
  checks: readonly (typeof CHECK)[] = [],
): OpenAI.Responses.ResponseComputerToolCall {
  const fixed = { type: 'computer_call', id: `cu_${callId}`, status: 'completed' } as const;
  return { ...fixed, call_id: callId, pending_safety_checks: [...checks], actions };
}

/** What the loop sent to a model. */
interface Sent {
  readonly messages?: readonly { readonly content: unknown }[];
  readonly input?: unknown;
}

/** A model that replays its turns, whatever it is sent. */
export class ReplayedModel {
  readonly sent: Sent[] = [];

  private constructor(private readonly server: JsonServer) {}

  static async start(): Promise<ReplayedModel> {
    const model = new ReplayedModel(
      await JsonServer.start((path, body) => {
        const turn = model.sent.push(body as Sent) - 1;
        return { status: 200, body: path.includes('/messages') ? message(turn) : response(turn) };
      }),
    );
    return model;
  }

  get url(): string {
    return this.server.url;
  }

  /** What came of each turn: what the loop sent in the next one. */
  get outcomes(): readonly unknown[] {
    return this.sent.slice(1).map(({ messages, input }) => messages?.at(-1)?.content ?? input);
  }

  stop(): void {
    this.server.stop();
  }
}

const message = (turn: number): object => ({
  ...{ id: `msg_${turn}`, type: 'message', role: 'assistant', model: 'replayed', stop_sequence: null },
  ...{
    content: ANTHROPIC_TURNS[turn],
    stop_reason: 'tool_use',
    usage: { input_tokens: 1, output_tokens: 1 },
  },
});

const response = (turn: number): object => ({
  ...{ id: `resp_${turn}`, object: 'response', status: 'completed', model: 'replayed' },
  output: OPENAI_TURNS[turn],
});

export interface LoopRun {
  readonly vendor: 'anthropic' | 'openai';
  readonly model: ReplayedModel;
  readonly berth: { readonly url: string; readonly key: string; readonly computer: string };
  /** What the person types. */
  readonly answer?: string;
}

/** Runs the example of the documentation until it ends. */
export const runLoop = async ({
  vendor,
  model,
  berth,
  answer = '',
}: LoopRun): Promise<{ code: number | null; out: string; err: string }> => {
  const child = spawn(process.execPath, [LOOP, vendor, 'Write it down.'], {
    env: {
      PATH: process.env['PATH'],
      ...{ BERTH_URL: berth.url, BERTH_API_KEY: berth.key, COMPUTER: berth.computer, MODEL: 'replayed' },
      ...{ ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'none' },
      ...{ OPENAI_BASE_URL: `${model.url}/v1`, OPENAI_API_KEY: 'none' },
    },
  });
  child.stdin.end(answer);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, out, err };
};
