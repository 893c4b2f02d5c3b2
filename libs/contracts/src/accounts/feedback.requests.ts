import { defineRequest, type CommandEnvelope, type Page } from '@berth/kernel';
import type { NullWhenAbsent, PageRequest } from '../schema/index.js';
import type { FeedbackBody } from './feedback.schemas.js';

export interface ReportFeedback extends CommandEnvelope, NullWhenAbsent<FeedbackBody> {
  readonly keyId: string;
}

/** A report as it is stored. */
export interface FeedbackView extends NullWhenAbsent<FeedbackBody> {
  readonly id: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly createdAt: string;
}

/** Reports about the interface itself. */
export const feedbackRequests = {
  /** Errors: exhausted `rate_limited` with `retryAfterSeconds`. A repeated command is stored and counted once. */
  report: defineRequest<ReportFeedback, FeedbackView>('cmd.accounts.report-feedback.v1', undefined, {
    whenLost: 'repeat',
  }),
  /** The reports of all accounts, newest first. Errors: invalid `invalid_request` for a bad cursor. */
  list: defineRequest<PageRequest, Page<FeedbackView>>('qry.accounts.list-feedback.v1'),
};
