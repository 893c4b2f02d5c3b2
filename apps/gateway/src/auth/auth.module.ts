import { Module } from '@nestjs/common';
import { Authenticators, KeyAuthenticator } from './authenticators.js';
import { CredentialWatch } from './credential-watch.js';

@Module({
  providers: [KeyAuthenticator, Authenticators, CredentialWatch],
  exports: [Authenticators, CredentialWatch],
})
export class AuthModule {}
