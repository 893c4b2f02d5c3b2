import { computerCallOutput, type ComputerCallOutput } from './computer-call-output.js';
import type { ActionError, Image, PlanOutcome, Seen, UnitOutcome } from './outcome.js';
import type { ActionPlan } from './action-plan.js';
import { toCaller, type Screen } from './screen.js';
import type { Point } from './step.js';
import { failedToolResult, SKIPPED, toolResult, type ToolResult } from './tool-result.js';
import type { Unit } from './unit.js';

export type VendorOutput = ToolResult | ComputerCallOutput;

/** The result of a unit, with what it found out. */
export type ActionResult = {
  readonly index: number;
  readonly type: string;
  readonly ok: boolean;
  readonly error?: ActionError;
  readonly output?: VendorOutput;
  readonly text?: string;
  readonly screenshot?: Image;
} & Partial<Point>;

export interface ActionsAnswer {
  readonly results: readonly ActionResult[];
  /** Of the first unit that failed. */
  readonly failedIndex: number | null;
  /** The units after a failure that ended the batch. */
  readonly skipped: readonly { readonly index: number; readonly output?: VendorOutput }[];
  readonly cursor: Point;
  readonly screenshot?: Image;
  readonly durationMs: number;
}

/** The answer to a request, from what came of its plan. Its pixels are those that the caller sees. */
export const answerActions = (plan: ActionPlan, outcome: PlanOutcome): ActionsAnswer => {
  const begun = outcome.units.length;
  const failed = outcome.units.findIndex(({ error }) => error !== null);
  return {
    results: plan.units.flatMap((unit, index) => {
      const of = outcome.units[index];
      return of === undefined ? [] : [resultOf(unit, index, asSeen(of, plan.screen))];
    }),
    failedIndex: failed === -1 ? null : failed,
    skipped: plan.units.slice(begun).map((unit, offset) => ({
      index: begun + offset,
      ...outputMember(skippedOutput(unit, outcome.closing)),
    })),
    cursor: toCaller(plan.screen, outcome.cursor),
    ...(plan.screenshot ? { screenshot: made(outcome.closing) } : {}),
    durationMs: outcome.durationMs,
  };
};

const asSeen = (outcome: UnitOutcome, screen: Screen): UnitOutcome => {
  const { seen } = outcome;
  return seen?.kind === 'position'
    ? { error: outcome.error, seen: { ...seen, ...toCaller(screen, seen) } }
    : outcome;
};

const resultOf = (unit: Unit, index: number, outcome: UnitOutcome): ActionResult => ({
  index,
  type: unit.type,
  ok: outcome.error === null,
  ...(outcome.error === null ? {} : { error: outcome.error }),
  ...outputMember(outputOf(unit, outcome)),
  ...found(outcome.seen ?? null, unit),
});

/** Images of blocks and items are in their outputs only. */
const found = (seen: Seen | null, { vendor }: Unit): Partial<ActionResult> => {
  if (seen === null) return {};
  if (seen.kind === 'position') return { x: seen.x, y: seen.y };
  if (seen.kind === 'text') return { text: seen.text };
  return vendor.kind === 'none' ? { screenshot: seen.image } : {};
};

const outputMember = (output: VendorOutput | undefined): { readonly output?: VendorOutput } =>
  output === undefined ? {} : { output };

const outputOf = ({ vendor }: Unit, { error, seen, closing }: UnitOutcome): VendorOutput | undefined => {
  if (vendor.kind === 'tool_use')
    return error === null ? toolResult(vendor, seen ?? null) : failedToolResult(vendor, error.message);
  return vendor.kind === 'computer_call' ? computerCallOutput(vendor, made(closing)) : undefined;
};

const skippedOutput = ({ vendor }: Unit, closing: Image | null): VendorOutput | undefined => {
  if (vendor.kind === 'tool_use') return failedToolResult(vendor, SKIPPED);
  return vendor.kind === 'computer_call' ? computerCallOutput(vendor, made(closing)) : undefined;
};

/** An image that the plan asked for. A model must not take a turn as answered without it. */
const made = (image: Image | null | undefined): Image => {
  if (image === null || image === undefined) throw new Error('the desktop made no image of the still screen');
  return image;
};
