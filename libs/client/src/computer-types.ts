// The OpenAPI document of this version does not describe computers.

import type { Moment } from './values.js';

/** A persistent desktop. */
export interface Computer {
  readonly id: string;
  readonly externalUserId: string | null;
  readonly name: string | null;
  readonly status: 'starting' | 'running' | 'sleeping' | 'failed' | 'deleting';
  /** Pixels. */
  readonly display: { readonly width: number; readonly height: number };
  readonly resources: { readonly memMb: number; readonly vcpus: number; readonly diskGb: number };
  /** Seconds without activity until it sleeps; 0: always on. */
  readonly idleTtlSeconds: number;
  readonly createdAt: string;
  readonly lastActiveAt: string;
  readonly sleepAt: string | null;
}

/** What a computer is created with. */
export interface CreateComputerBody {
  /** The end user who owns it and has only one; created if unknown. */
  readonly externalUserId?: string | null | undefined;
  /** Need not be unique. */
  readonly name?: string | null | undefined;
  /** Pixels, by default 1280 × 800. */
  readonly display?: { readonly width?: number; readonly height?: number } | null | undefined;
  /** Seconds without activity until it sleeps: 0 (always on) or 15 to 604,800; by default 900. */
  readonly idleTtlSeconds?: number | null | undefined;
}

/** Filters and the page of `computers.list`. */
export interface ListComputers {
  readonly externalUserId?: string | undefined;
  readonly status?: Computer['status'] | undefined;
  readonly cursor?: string | undefined;
  /** The size of a page, 1 to 200, by default 50. */
  readonly limit?: number | undefined;
}

/** The range (whole days in UTC, by default the last 30), the filters and the page of `computers.usage`. */
export interface ComputerUsageQuery {
  readonly from?: Moment | undefined;
  readonly to?: Moment | undefined;
  readonly externalUserId?: string | undefined;
  readonly computerId?: string | undefined;
  readonly cursor?: string | undefined;
  /** Rows, 1 to 10,000. */
  readonly limit?: number | undefined;
}

/** What was counted of computers. Amounts are cents. */
export interface ComputerUsageTotals {
  readonly activeSeconds: number;
  readonly wakes: number;
  readonly actions: number;
  readonly screenshots: number;
  readonly executions: number;
  readonly hostingCents: number;
  readonly totalCents: number;
}

/** Usage of one computer. */
export interface ComputerUsageRow extends ComputerUsageTotals {
  readonly computerId: string;
  readonly name: string | null;
  readonly externalUserId: string | null;
  readonly hostingBasis: 'metered' | 'allocated';
  readonly vcpuSeconds: number;
  readonly memGbSeconds: number;
  readonly diskGbSeconds: number;
}

/** Usage of computers in whole days. */
export interface ComputerUsageReport {
  readonly from: string;
  readonly to: string;
  readonly currency: 'USD';
  readonly rows: readonly ComputerUsageRow[];
  readonly totals: ComputerUsageTotals;
  readonly nextCursor: string | null;
  /** Usage in progress is counted up to this moment. */
  readonly asOf: string;
}

/** One action, exactly as a model sends it: Berth's own form, or one of OpenAI's or Anthropic's. */
export type ComputerAction = Readonly<Record<string, unknown>>;

/** How actions are taken. */
export interface ActionOptions {
  /** Whether to take a screenshot at the end. */
  readonly screenshot?: boolean | null | undefined;
  /** 0.1 to 1: all pixels are those of a display scaled by it. */
  readonly scale?: number | null | undefined;
  /** Whether to skip what follows a failure, by default true. */
  readonly stopOnError?: boolean | null | undefined;
  /** Safety checks of OpenAI's model that a person has confirmed. */
  readonly acknowledged_safety_checks?: readonly unknown[] | null | undefined;
}

/** An image of a screen. */
export interface Screenshot {
  readonly format: 'png' | 'jpeg';
  readonly width: number;
  readonly height: number;
  /** Base64. */
  readonly data: string;
  readonly capturedAt: string;
}

/** What became of one action. */
export interface ActionResult {
  readonly index: number;
  /** The name of the action. */
  readonly type: string;
  readonly ok: boolean;
  readonly error?: { readonly code: string; readonly message: string };
  /** What to send back to a model of OpenAI or Anthropic. */
  readonly output?: unknown;
  readonly [member: string]: unknown;
}

/** What became of actions. */
export interface ActionResults {
  readonly results: readonly ActionResult[];
  readonly failedIndex: number | null;
  readonly skipped: readonly { readonly index: number; readonly output?: unknown }[];
  readonly cursor: { readonly x: number; readonly y: number };
  readonly screenshot?: Screenshot;
  readonly durationMs: number;
}

/** How a screenshot is taken. */
export interface ScreenshotOptions {
  /** By default `png`. */
  readonly format?: 'png' | 'jpeg' | undefined;
  /** Of a JPEG, 1 to 100, by default 80. */
  readonly quality?: number | undefined;
  /** 0.1 to 1. */
  readonly scale?: number | undefined;
}

/** How a person sees a screen. */
export interface ViewerBody {
  /** `view`, the default, or `control`: with mouse and keys. */
  readonly mode?: 'view' | 'control' | null | undefined;
  /** 30 to 3,600, by default 900. */
  readonly ttlSeconds?: number | null | undefined;
  /** With `control`: whether actions are refused while the page is open. */
  readonly takeover?: boolean | null | undefined;
}

/** A page on which a person sees a screen. */
export interface OpenedViewer {
  readonly sessionId: string;
  readonly url: string;
  readonly socketUrl: string;
  readonly mode: 'view' | 'control';
  readonly takeover: boolean;
  readonly expiresAt: string;
}

/** A session of a viewer that waits or is open. */
export interface ViewerSession {
  readonly sessionId: string;
  readonly mode: 'view' | 'control';
  readonly takeover: boolean;
  readonly status: 'waiting' | 'open';
  readonly createdAt: string;
  readonly openedAt: string | null;
  readonly expiresAt: string;
}
