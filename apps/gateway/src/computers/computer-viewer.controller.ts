import { computersRequests, viewerBody, type ViewerBody } from '@berth/contracts/computers';
import { Requester } from '@berth/messaging';
import { Body, Controller, Param, Post, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { envelopeOf } from '../auth/caller.js';
import type { ApiRequest } from '../http/fastify-types.js';
import type { FieldProblem } from '../http/http-refusal.js';
import { Route } from '../http/route.decorator.js';
import { useErrors } from './computer-errors.js';
import { computer } from './computer.resource.js';
import type { OpenedViewer } from './viewer/opened-viewer.js';
import { ViewerOrigin } from './viewer/viewer-origin.js';
import { secretHashOf, ViewerSecrets } from './viewer/viewer-secrets.js';

const DEFAULT_TTL_SECONDS = 900;

@ApiTags('Computers')
@Controller('api/v1/computers/:computer_id/viewer')
export class ComputerViewerController {
  constructor(
    private readonly requester: Requester,
    private readonly origin: ViewerOrigin,
    private readonly secrets: ViewerSecrets,
  ) {}

  @Route({
    accepts: { key: 'computers' },
    resource: computer,
    body: { kind: 'json', shape: viewerBody, problems: takeoverProblems },
    summary: 'Open a viewer of a computer',
    description:
      'Wakes a sleeping computer. Whoever has the URL sees the screen and, in `control`, uses mouse, keys and clipboard. The page loads any number of times; its first socket uses the session up, and when that closes, the session is over, as it is at `expiresAt` and when the key that opened it is revoked. While a socket with `takeover` is open, actions are 409 `taken_over`.',
    responses: [
      { status: 201, description: 'The session. Only this response has its URL.', schema: 'OpenedViewer' },
    ],
    errors: useErrors(['idempotency_answer_gone']),
    answerEnds: 'expiresAt',
    answerShows: 'url',
  })
  @Post()
  async open(
    @Req() request: ApiRequest,
    @Param('computer_id') computerId: string,
    @Body() { mode, ttlSeconds, takeover }: ViewerBody,
  ): Promise<OpenedViewer> {
    const envelope = envelopeOf(request);
    const secret = this.secrets.of(envelope.commandId);
    const session = await this.requester.request(computersRequests.openViewer, {
      ...envelope,
      computerId,
      mode: mode ?? 'view',
      ttlSeconds: ttlSeconds ?? DEFAULT_TTL_SECONDS,
      takeover: takeover ?? false,
      secretHash: secretHashOf(secret),
    });
    return {
      sessionId: session.sessionId,
      url: `${this.origin.url}/v/${secret}/`,
      socketUrl: `${this.origin.socketUrl}/v/${secret}/socket`,
      mode: session.mode,
      takeover: session.takeover,
      expiresAt: session.expiresAt,
    };
  }
}

function takeoverProblems(body: unknown): readonly FieldProblem[] {
  const { mode, takeover } = body as Readonly<Record<string, unknown>>;
  return takeover === true && mode !== 'control'
    ? [{ path: 'takeover', message: 'needs the mode control' }]
    : [];
}
