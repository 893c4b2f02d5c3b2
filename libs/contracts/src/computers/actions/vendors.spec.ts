import type Anthropic from '@anthropic-ai/sdk';
import { BetaAbstractComputerToolset20260801 } from '@anthropic-ai/sdk/helpers/beta/toolsets/computer';
import { BETA_COMPUTER_MEMBER_NAME_VALUES } from '@anthropic-ai/sdk/resources/beta/messages/messages';
import type OpenAI from 'openai';
import { ComputerToolset, type ComputerDriver } from 'openai/helpers/computer';
import { describe, expect, it } from 'vitest';
import {
  answerActions,
  hasClosingImage,
  planActions,
  type ActionPlan,
  type ComputerCall,
  type ComputerCallOutput,
  type PlanOutcome,
  type Seen,
  type ToolResult,
  type ToolsetUse,
  type TypedAction,
} from '../index.js';
import { namedActions, type ActionName, type NamedActionMembers } from './named-actions.js';
import { itemSession, toolsetSession, toolSession } from './sessions.fixture.js';
import { DISPLAY } from './refusals.fixture.js';
import type { Unit } from './unit.js';

const IMAGE = {
  format: 'png',
  width: 1_280,
  height: 800,
  data: 'aW1hZ2U=',
  capturedAt: '2026-01-31T12:00:00.000Z',
} as const;
const CURSOR = { x: 10, y: 20 };

/** The members of their actions that ours lack. */
type Missing = {
  openai: OpenAI.Responses.ComputerAction extends infer Theirs extends { type: string }
    ? Theirs extends unknown
      ? Exclude<keyof Theirs, keyof Extract<TypedAction, { type: Theirs['type'] }>>
      : never
    : never;
  anthropic: {
    [Name in ActionName]: Exclude<
      keyof Extract<Anthropic.Beta.Messages.BetaComputerToolUseBlock, { name: Name }>['input'],
      keyof NamedActionMembers[Name]
    >;
  }[ActionName];
};

/** The build fails if one of these types of the vendors is not accepted, or if they do not accept an answer of ours. */
const accepted = {
  everyMember: true satisfies Missing[keyof Missing] extends never ? true : never,
  computerAction: (action: OpenAI.Responses.ComputerAction): TypedAction => action,
  item: (
    item: OpenAI.Responses.ResponseComputerToolCall & {
      status: 'completed';
      action?: never;
      actions: OpenAI.Responses.ComputerActionList;
    },
  ): ComputerCall => item,
  legacyItem: (
    item: OpenAI.Responses.ResponseComputerToolCall & {
      status: 'completed';
      actions?: never;
      action: OpenAI.Responses.ComputerAction;
    },
  ): ComputerCall => item,
  block: (
    block: Anthropic.Beta.Messages.BetaComputerToolUseBlock | Anthropic.Messages.ComputerToolUseBlock,
  ): ToolsetUse => block,
  toolResult: ({ content, ...result }: ToolResult): Anthropic.Beta.BetaToolResultBlockParam => ({
    ...result,
    content: [...content],
  }),
  callOutput: ({
    acknowledged_safety_checks: checks,
    ...output
  }: ComputerCallOutput): OpenAI.Responses.ResponseInputItem.ComputerCallOutput => ({
    ...output,
    ...(checks === undefined ? {} : { acknowledged_safety_checks: [...checks] }),
  }),
};

/** What a desktop reports that did all it was asked for. */
const allDone = (plan: ActionPlan): PlanOutcome => ({
  units: plan.units.map((unit) => ({
    error: null,
    ...(hasClosingImage(unit) ? { closing: IMAGE } : { seen: seenBy(unit) }),
  })),
  cursor: CURSOR,
  closing: null,
  durationMs: 1,
});

const seenBy = ({ actions }: Unit): Seen | null => {
  const last = actions.at(-1)?.at(-1)?.do;
  if (last === 'screenshot' || last === 'zoom') return { kind: 'image', image: IMAGE };
  return last === 'cursor_position' ? { kind: 'position', ...CURSOR } : null;
};

const outputsFor = (actions: readonly unknown[]) => {
  const plan = planActions({ actions }, DISPLAY);
  return answerActions(plan, allDone(plan)).results.map(({ output }) => output);
};

/** A desktop on Anthropic's own package. */
class Desktop extends BetaAbstractComputerToolset20260801 {
  constructor() {
    super({ confirm: () => true });
  }

  protected override execute(_context: unknown, name: ActionName) {
    const shown = {
      screenshot: { data: IMAGE.data },
      zoom: { data: IMAGE.data },
      cursor_position: CURSOR,
    } as const;
    return Promise.resolve(name in shown ? shown[name as keyof typeof shown] : undefined);
  }
}

const driver: ComputerDriver = {
  click: () => undefined,
  double_click: () => undefined,
  drag: () => undefined,
  keypress: () => undefined,
  move: () => undefined,
  scroll: () => undefined,
  type: () => undefined,
  wait: () => undefined,
  screenshot: () => ({
    type: 'computer_screenshot',
    image_url: `data:image/png;base64,${IMAGE.data}`,
  }),
};

describe("Anthropic's actions", () => {
  it('are those of the published toolset, all of them', () => {
    expect(Object.keys(namedActions).sort()).toEqual([...BETA_COMPUTER_MEMBER_NAME_VALUES].sort());
    expect([...new Set(toolsetSession.map(({ name }) => name))].sort()).toEqual(
      [...BETA_COMPUTER_MEMBER_NAME_VALUES].sort(),
    );
  });

  it('are answered as by its own package, whatever the member', async () => {
    const desktop = new Desktop();
    const theirs = await Promise.all(toolsetSession.map((block) => desktop.toolResult({ ...block })));
    expect(outputsFor(toolsetSession.map(accepted.block))).toEqual(theirs);
  });

  it.each(['\n', ' ', '\u200f', '\u2028', 'ctrl+\t'])(
    'are answered on one line as by its own package, with the key %j too',
    async (text) => {
      const block = {
        type: 'tool_use',
        id: 'toolu_1',
        name: 'key',
        input: { text },
        toolset_name: 'computer',
      } as const;
      expect(outputsFor([block])).toEqual([await new Desktop().toolResult(block)]);
    },
  );

  it('are answered without a toolset when they are calls of the older tool', () => {
    const outputs = outputsFor(toolSession);
    expect(outputs.map((output) => output !== undefined && 'toolset_name' in output)).toEqual(
      toolSession.map(() => false),
    );
    expect(outputs.at(1)).toEqual({
      type: 'tool_result',
      tool_use_id: 'toolu_01B',
      content: [{ type: 'text', text: 'Clicked.' }],
    });
    expect(outputs.at(-1)).toMatchObject({ content: [{ type: 'text', text: 'X=10,Y=20' }] });
  });
});

describe("OpenAI's items", () => {
  it('are answered as by its own package', async () => {
    const theirs = await Promise.all(
      itemSession.map((item) => new ComputerToolset(driver).execute(structuredClone(item))),
    );
    expect(outputsFor(itemSession)).toEqual(theirs);
  });

  it('are answered with the checks that were acknowledged', async () => {
    const checks = [{ id: 'sc_1', code: 'malicious_instructions', message: 'Look at the page.' }];
    const item = { ...itemSession[0], pending_safety_checks: checks };
    const plan = planActions({ actions: [item], acknowledged_safety_checks: checks }, DISPLAY);
    const toolset = new ComputerToolset(driver);
    const theirs = await toolset.execute(structuredClone(item) as OpenAI.Responses.ResponseComputerToolCall, {
      approveSafetyChecks: () => true,
    });
    expect(answerActions(plan, allDone(plan)).results[0]?.output).toEqual(theirs);
  });
});
