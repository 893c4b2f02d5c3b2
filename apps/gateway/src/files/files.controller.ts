import {
  downloadQuery,
  filesRequests,
  listFilesQuery,
  moveBody,
  pathBody,
  pathQuery,
  type DownloadQuery,
  type ListFilesQuery,
  type MoveBody,
  type PathBody,
  type PathQuery,
} from '@berth/contracts/files';
import { Requester } from '@berth/messaging';
import { Body, Controller, Delete, Get, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { envelopeOf } from '../auth/caller.js';
import { agentOf } from '../agents/agent.resource.js';
import { Route } from '../http/route.decorator.js';
import type { ApiReply, ApiRequest } from '../http/fastify-types.js';
import { changeErrors, readErrors } from './file-errors.js';
import { FileResponses } from './file-responses.js';

interface Done {
  readonly ok: true;
  readonly path: string;
}

@ApiTags('Files')
@Controller('api/agents/:agent_id/files')
export class FilesController {
  constructor(
    private readonly requester: Requester,
    private readonly files: FileResponses,
  ) {}

  @Route({
    accepts: { key: 'deploy', end_user: 'files' },
    resource: agentOf('agent_id'),
    query: listFilesQuery,
    summary: 'List a folder of an agent',
    description:
      "Wakes a sleeping agent. Sorted by name; links are listed and not followed. `root` is the path of the agent's volume.",
    responses: [{ status: 200, description: 'The entries of the folder.', schema: 'FileList' }],
    errors: readErrors(['not_a_directory', 'path_not_found']),
  })
  @Get('list')
  async list(
    @Req() request: ApiRequest,
    @Param('agent_id') agentId: string,
    @Query() query: ListFilesQuery,
    @Res() reply: ApiReply,
  ): Promise<void> {
    const path = query.path === undefined || query.path === '' ? null : query.path;
    const open = (refusedEpoch: number | null) =>
      this.requester.request(filesRequests.openList, { ...envelopeOf(request), agentId, path, refusedEpoch });
    await this.files.sendList(reply, open);
  }

  @Route({
    accepts: { key: 'deploy', end_user: 'files' },
    resource: agentOf('agent_id'),
    query: downloadQuery,
    summary: 'Download a file of an agent',
    description:
      'Wakes a sleeping agent. Serves regular files of at most 104,857,600 bytes. Supports `Range`, `If-Range` and `If-None-Match`; the content type derives from the file name. A token of an end user reaches only the volume. If the transfer fails midway, the connection is closed.',
    responses: [
      { status: 200, description: 'The file.', binary: true },
      { status: 206, description: 'The requested range.', binary: true },
      { status: 304, description: 'Unchanged since `If-None-Match`.' },
    ],
    errors: readErrors([
      'is_a_directory',
      'not_a_file',
      'path_not_found',
      'payload_too_large',
      'range_not_satisfiable',
    ]),
  })
  @Get('download')
  async download(
    @Req() request: ApiRequest,
    @Param('agent_id') agentId: string,
    @Query() { path }: DownloadQuery,
    @Res() reply: ApiReply,
  ): Promise<void> {
    const open = (refusedEpoch: number | null) =>
      this.requester.request(filesRequests.openDownload, {
        ...envelopeOf(request),
        agentId,
        path,
        refusedEpoch,
      });
    await this.files.sendFile(request, reply, path, open);
  }

  @Route({
    accepts: { key: 'deploy', end_user: 'files' },
    resource: agentOf('agent_id'),
    body: { kind: 'json', shape: pathBody },
    summary: 'Create a folder',
    description:
      'Wakes a sleeping agent. Creates missing parent folders; succeeds if the folder already exists.',
    responses: [{ status: 200, description: 'The folder exists.', schema: 'ChangedPath' }],
    errors: changeErrors(['not_a_directory', 'path_exists', 'volume_full']),
  })
  @Post('mkdir')
  async mkdir(
    @Req() request: ApiRequest,
    @Param('agent_id') agentId: string,
    @Body() { path }: PathBody,
  ): Promise<Done> {
    const made = await this.requester.request(filesRequests.mkdir, { ...envelopeOf(request), agentId, path });
    return { ok: true, path: made.path };
  }

  @Route({
    accepts: { key: 'deploy', end_user: 'files' },
    resource: agentOf('agent_id'),
    body: { kind: 'json', shape: moveBody },
    summary: 'Move a file or folder',
    description: 'Wakes a sleeping agent. Never replaces anything.',
    responses: [{ status: 200, description: 'Moved.', schema: 'MovedPath' }],
    errors: changeErrors([
      'move_into_itself',
      'not_a_directory',
      'volume_root',
      'source_not_found',
      'path_not_found',
      'destination_exists',
      'volume_full',
    ]),
  })
  @Post('move')
  async move(
    @Req() request: ApiRequest,
    @Param('agent_id') agentId: string,
    @Body() body: MoveBody,
  ): Promise<{ readonly ok: true; readonly from: string; readonly to: string }> {
    const { from, to } = await this.requester.request(filesRequests.move, {
      ...envelopeOf(request),
      agentId,
      from: body.from,
      to: body.to,
    });
    return { ok: true, from, to };
  }

  @Route({
    accepts: { key: 'deploy', end_user: 'files' },
    resource: agentOf('agent_id'),
    query: pathQuery,
    summary: 'Delete a file or folder',
    description: 'Wakes a sleeping agent. Deletes folders with their content; refuses the volume itself.',
    responses: [{ status: 200, description: 'Deleted.', schema: 'ChangedPath' }],
    errors: changeErrors(['volume_root', 'path_not_found']),
  })
  @Delete('delete')
  async delete(
    @Req() request: ApiRequest,
    @Param('agent_id') agentId: string,
    @Query() { path }: PathQuery,
  ): Promise<Done> {
    const gone = await this.requester.request(filesRequests.delete, {
      ...envelopeOf(request),
      agentId,
      path,
    });
    return { ok: true, path: gone.path };
  }
}
