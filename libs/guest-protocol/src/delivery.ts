/** A file in the agent's inbox, as described to its program. */
export interface Attachment {
  /** Absolute, as the agent sees it. */
  readonly path: string;
  readonly name: string;
  readonly size: number;
}

/** The sources of messages that no caller waits for: only the status of the program's answer counts. */
export type MessageSource = 'webhook' | 'schedule';

export interface DeliverToProgram {
  readonly deliveryId: string;
  readonly conversationId: string;
  readonly message: string;
  /** Files sent with the message. */
  readonly attachments?: readonly Attachment[];
  /** The source of a message that no caller waits for; absent for a chat or an attachment. */
  readonly source?: MessageSource;
  /** The content type of a webhook's body, null if it had none; absent for other messages. */
  readonly contentType?: string | null;
  /**
   * W3C Trace Context of the caller, passed on so that the program's spans join the trace; absent when tracing is off.
   */
  readonly traceparent?: string;
}

/** Error code of `deliver`: the message was abandoned before it was handed over. A new request delivers it. */
export const DELIVERY_ABANDONED_CODE = 'delivery_abandoned';

/**
 * Error code of `deliver`: the program answered a message with a `source` with 429 or 503. A new request hands it over
 * again.
 */
export const DELIVERY_DECLINED_CODE = 'delivery_declined';

/** Error code of `deliver`: the program got the message earlier, and how that ended will never be known. */
export const DELIVERY_UNKNOWN_CODE = 'delivery_outcome_unknown';

export interface AbandonDelivery {
  /** null: every message that waits for its turn. */
  readonly deliveryId: string | null;
}

export interface AbandonedDelivery {
  /** The number of messages that are certainly not handed over. */
  readonly abandoned: number;
}

export interface ProgramResponse {
  readonly response: string;
}
