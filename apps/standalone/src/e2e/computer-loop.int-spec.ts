import {
  answerActions,
  hasClosingImage,
  planActions,
  type ActionPlan,
  type Image,
  type PlanOutcome,
  type Size,
} from '@berth/contracts/computers';
import { DomainError } from '@berth/kernel';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { JsonServer, ReplayedModel, runLoop } from './computer-loop.fixture.js';

const display = { width: 1_920, height: 1_200 };
const CAPTURED = '2026-01-31T12:00:00.000Z';

/** A Berth that plans and answers as the real one does; the desktop has done everything. */
const startBerth = (plans: ActionPlan[]): Promise<JsonServer> =>
  JsonServer.start((path, body) => {
    if (path.startsWith('GET ')) return { status: 200, body: { id: 'cmp_1', display } };
    try {
      const plan = planActions(body, display);
      plans.push(plan);
      return { status: 200, body: answerActions(plan, outcomeOf(plan)) };
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      const { code, message, context } = error;
      return {
        status: code === 'invalid_action' ? 400 : 409,
        body: { detail: { code, message, ...context } },
      };
    }
  });

const outcomeOf = ({ units, screen }: ActionPlan): PlanOutcome => ({
  units: units.map((unit) => {
    const step = unit.actions.flat().at(-1);
    if (hasClosingImage(unit)) return { error: null, closing: imageOf(screen.size) };
    if (step?.do === 'cursor_position') return { error: null, seen: { kind: 'position', x: 300, y: 300 } };
    const isImage = step?.do === 'screenshot' || step?.do === 'zoom';
    return { error: null, seen: isImage ? { kind: 'image', image: imageOf(step.size) } : null };
  }),
  cursor: { x: 300, y: 300 },
  closing: null,
  durationMs: 1,
});

const imageOf = (size: Size): Image => ({ format: 'png', ...size, data: 'aW1hZ2U=', capturedAt: CAPTURED });

describe('the example of a model that uses a computer', () => {
  const plans: ActionPlan[] = [];
  let model: ReplayedModel;
  let server: JsonServer;
  let berth: { url: string; key: string; computer: string };

  beforeEach(async () => {
    plans.length = 0;
    model = await ReplayedModel.start();
    server = await startBerth(plans);
    berth = { url: server.url, key: 'mk_1', computer: 'cmp_1' };
  });
  afterEach(() => {
    model.stop();
    server.stop();
  });

  it('carries out what a model of Anthropic asks for, and tells it what is wrong with a block', async () => {
    expect(await runLoop({ vendor: 'anthropic', model, berth })).toEqual({
      code: 0,
      out: 'It is done.\n',
      err: '',
    });
    const text = (said: string) => [{ type: 'text', text: said }];
    expect(model.outcomes).toMatchObject([
      [{ type: 'tool_result', tool_use_id: 'toolu_A', content: [{ type: 'image' }] }],
      [
        { tool_use_id: 'toolu_B', content: text('Clicked.') },
        { tool_use_id: 'toolu_C', content: text('Typed.') },
        { tool_use_id: 'toolu_D', content: text('X=200,Y=200') },
      ],
      [
        {
          tool_use_id: 'toolu_E',
          is_error: true,
          content: [{ text: expect.stringContaining('coordinate') }],
        },
      ],
      [{ tool_use_id: 'toolu_F', content: [{ type: 'image' }] }],
    ]);
    expect(model.sent[0]).toMatchObject({ tools: [{ display_width_px: 1_280, display_height_px: 800 }] });
    expect(plans[1]?.units[0]?.actions[0]).toContainEqual({ do: 'move', x: 300, y: 300 });
  });

  it('carries out what a model of OpenAI asks for, once a person has acknowledged its checks', async () => {
    const run = await runLoop({ vendor: 'openai', model, berth, answer: 'y\n' });
    expect(run).toMatchObject({
      code: 0,
      out: expect.stringMatching(/The page gives instructions\..*It is done\.\n$/s),
    });
    const output = { type: 'computer_screenshot', image_url: 'data:image/png;base64,aW1hZ2U=' };
    expect(model.outcomes).toMatchObject([
      [{ type: 'computer_call_output', call_id: 'call_1', output }],
      [{ call_id: 'call_2', output, acknowledged_safety_checks: [{ id: 'cu_sc_1' }] }],
    ]);
  });

  it('does nothing of an item whose checks the person does not acknowledge', async () => {
    const run = await runLoop({ vendor: 'openai', model, berth, answer: 'n\n' });
    expect(run).toMatchObject({ code: 1, err: expect.stringContaining('A person has ended the task.') });
    expect(plans).toHaveLength(1);
  });
});
