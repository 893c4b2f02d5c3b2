import { LOG_LEVELS, type LogLevel, type LogSource } from '@berth/contracts/runtime';
import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsOptional } from 'class-validator';
import { FromQuery } from '../validation/nested-rules.js';
import { IsIsoTime, IsText, IsWithin } from '../validation/rules.js';

const SOURCES: readonly LogSource[] = ['agent', 'system', 'build'];

/** `GET /api/agents/{agent_id}/logs` */
export class LogsQuery {
  @ApiProperty({ type: 'integer', minimum: 1, maximum: 1_000, default: 100, required: false })
  @FromQuery('integer')
  @IsOptional()
  @IsWithin(1, 1_000)
  readonly limit: number = 100;

  @ApiProperty({ enum: LOG_LEVELS, required: false, description: 'The lowest level shown.' })
  @IsOptional()
  @IsIn(LOG_LEVELS, { message: `must be one of ${LOG_LEVELS.join(', ')}` })
  readonly level?: LogLevel;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    required: false,
    description: 'Only entries at or after this time.',
  })
  @IsOptional()
  @IsIsoTime()
  readonly since?: string;

  @ApiProperty({ enum: SOURCES, required: false })
  @IsOptional()
  @IsIn(SOURCES, { message: `must be one of ${SOURCES.join(', ')}` })
  readonly source?: LogSource;

  @ApiProperty({
    required: false,
    description: '`nextCursor` of an earlier response: go on behind it.',
  })
  @IsOptional()
  @IsText({ max: 4_096 })
  readonly cursor?: string;

  @ApiProperty({
    type: 'boolean',
    default: false,
    required: false,
    description: 'Keep the response open and send entries as server-sent events.',
  })
  @FromQuery('boolean')
  @IsOptional()
  @IsBoolean({ message: 'must be true or false' })
  readonly follow: boolean = false;
}
