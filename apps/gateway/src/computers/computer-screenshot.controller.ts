import type { IncomingHttpHeaders } from 'node:http';
import {
  computersRequests,
  screenshotQuery,
  type Image,
  type ScreenshotQuery,
} from '@berth/contracts/computers';
import { Requester } from '@berth/messaging';
import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { envelopeOf } from '../auth/caller.js';
import { AgentTransfers, type TransferResponse } from '../files/agent-transfer.js';
import type { Open } from '../hosts/fresh-ticket.js';
import { unexpectedResponse } from '../files/file-responses.js';
import { untilGone } from '../files/until-gone.js';
import type { ApiReply, ApiRequest } from '../http/fastify-types.js';
import { prefers } from '../http/prefers.js';
import { Route } from '../http/route.decorator.js';
import { aboutComputer, useErrors } from './computer-errors.js';
import { computer } from './computer.resource.js';
import { toImageJson } from './image-json.js';

const OK = 200;
const JSON_TYPE = 'application/json';

@ApiTags('Computers')
@Controller('api/v1/computers/:computer_id/screenshot')
export class ComputerScreenshotController {
  constructor(
    private readonly requester: Requester,
    private readonly transfers: AgentTransfers,
  ) {}

  @Route({
    accepts: { key: 'computers' },
    resource: computer,
    query: screenshotQuery,
    summary: 'Take a screenshot of a computer',
    description:
      'Wakes a sleeping computer. The pointer is drawn. The response is the image itself, or JSON with `Accept: application/json`.',
    responses: [
      { status: 200, description: 'The screen.', schema: 'Screenshot', alsoAs: ['image/png', 'image/jpeg'] },
    ],
    errors: useErrors(),
  })
  @Get()
  async take(
    @Req() request: ApiRequest,
    @Param('computer_id') computerId: string,
    @Query() query: ScreenshotQuery,
    @Res() reply: ApiReply,
  ): Promise<void> {
    const envelope = envelopeOf(request);
    const open = (refusedEpoch: number | null) =>
      this.requester.request(computersRequests.openScreenshot, {
        ...envelope,
        ...query,
        computerId,
        refusedEpoch,
      });
    const response = await aboutComputer(this.read(open, untilGone(reply)));
    reply.header('vary', 'Accept');
    const { headers, body } = response;
    const length = Number(headers['content-length']);
    if (prefers(request.headers.accept, JSON_TYPE, `image/${query.format}`)) {
      const json = toImageJson(seenIn(headers, query.format), body, length);
      await reply.header('content-length', json.length).type(`${JSON_TYPE}; charset=utf-8`).send(json.body);
      return;
    }
    await reply.header('content-length', length).type(`image/${query.format}`).send(body);
  }

  private async read(open: Open, signal: AbortSignal): Promise<TransferResponse> {
    const response = await this.transfers.read(open, { method: 'GET', signal });
    if (response.status !== OK) throw unexpectedResponse(response.status, response.body);
    return response;
  }
}

const seenIn = (headers: IncomingHttpHeaders, format: Image['format']): Omit<Image, 'data'> => ({
  format,
  width: Number(headers['berth-width']),
  height: Number(headers['berth-height']),
  capturedAt: String(headers['berth-captured-at']),
});
