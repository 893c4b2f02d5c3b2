import type { FeedbackView, ReportFeedback } from '@berth/contracts/accounts';
import { Clock, deriveId, isoTime } from '@berth/kernel';
import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { FeedbackStreams } from './feedback.streams.js';

/** Stores reports within the rate of their account. */
@Injectable()
export class FeedbackCommandHandler {
  constructor(
    private readonly streams: FeedbackStreams,
    private readonly clock: Clock,
    @Inject(Database) private readonly database: SqlRunner,
  ) {}

  /** Errors: see `feedbackRequests.report`. */
  async handle(request: ReportFeedback): Promise<FeedbackView> {
    const { accountId, keyId, kind, subject, message, requestId, statusCode, tool } = request;
    const id = deriveId('fbk', request.commandId);
    const counted = { feedbackId: id, accountId, keyId, kind, messageLength: message.length };
    const { events } = await this.streams.handle(
      accountId,
      { type: 'Report', ...counted, at: isoTime(this.clock.now()) },
      request,
    );
    const createdAt = events[0]?.data.at;
    if (createdAt === undefined) throw new Error('A report was neither counted nor refused.');
    const view = { id, kind, subject, message, requestId, statusCode, tool, accountId, keyId, createdAt };
    await this.store(view);
    return view;
  }

  /** A command that died between the two is repeated, or its caller has no 202. */
  private async store(view: FeedbackView): Promise<void> {
    const { id, kind, subject, message, requestId, statusCode, tool, accountId, keyId, createdAt } = view;
    await this.database.query(
      `INSERT INTO accounts_vault.feedback_reports
         (id, account_id, key_id, kind, subject, message, request_id, status_code, tool, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (id) DO NOTHING`,
      [id, accountId, keyId, kind, subject, message, requestId, statusCode, tool, createdAt],
    );
  }
}
