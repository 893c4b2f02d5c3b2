import { defineRequest } from '@berth/kernel';

/** About the size of a query for an agent and its response. */
export interface EchoRequest {
  readonly accountId: string;
  readonly agentId: string;
  readonly wait: null;
}

export interface EchoReply {
  readonly request: EchoRequest;
  readonly text: string;
}

export const echoRequest = defineRequest<EchoRequest, EchoReply>('qry.bench.echo.v1');
export const BARE_SUBJECT = 'bench.bare.echo';

export const ECHO_REQUEST: EchoRequest = {
  accountId: 'acc_01jd0000000000000000000000',
  agentId: 'agt_01jd0000000000000000000000',
  wait: null,
};

export const replyTo = (request: EchoRequest): EchoReply => ({ request, text: 'x'.repeat(600) });
