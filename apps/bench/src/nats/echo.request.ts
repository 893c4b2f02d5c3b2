import { defineRequest } from '@berth/kernel';

/** About the size of a query for an agent and its response. */
export interface Question {
  readonly accountId: string;
  readonly agentId: string;
  readonly wait: null;
}

export interface Reply {
  readonly question: Question;
  readonly text: string;
}

export const echoRequest = defineRequest<Question, Reply>('qry.bench.echo.v1');
export const BARE_SUBJECT = 'bench.bare.echo';

export const QUESTION: Question = {
  accountId: 'acc_01jd0000000000000000000000',
  agentId: 'agt_01jd0000000000000000000000',
  wait: null,
};

export const replyTo = (question: Question): Reply => ({ question, text: 'x'.repeat(600) });
