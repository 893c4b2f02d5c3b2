/** The X keysyms of characters beyond Latin 1, in rows like those of `KEY_KEYSYMS`. */
export const CHARACTER_KEYSYMS = `
1a2 breve
1b1 aogonek ogonek lstroke - lcaron sacute caron - scaron scedilla tcaron zacute doubleacute zcaron zabovedot
1e0 racute - - abreve - lacute cacute - ccaron - eogonek - ecaron - - dcaron dstroke nacute ncaron - - odoubleacute
1f8 rcaron uring - udoubleacute - - tcedilla abovedot
2a9 Iabovedot
2b1 hstroke - - - - hcircumflex - - idotless - gbreve jcircumflex
2e5 cabovedot ccircumflex
2f5 gabovedot - - gcircumflex - - - - ubreve scircumflex
3a2 kra
3b3 rcedilla - itilde lcedilla - - - emacron gcedilla tslash - - eng
3e0 amacron - - - - - - iogonek - - - - eabovedot - - imacron - ncedilla omacron kcedilla - - - - - uogonek
3fd utilde umacron
47e overline
4a1 kana_fullstop kana_openingbracket kana_closingbracket kana_comma kana_conjunctive kana_WO kana_a kana_i kana_u
4aa kana_e kana_o kana_ya kana_yu kana_yo kana_tsu prolongedsound - - - - - kana_KA kana_KI kana_KU kana_KE kana_KO
4bb kana_SA kana_SHI kana_SU kana_SE kana_SO kana_TA kana_CHI - kana_TE kana_TO kana_NA kana_NI kana_NU kana_NE
4c9 kana_NO kana_HA kana_HI kana_FU kana_HE kana_HO kana_MA kana_MI kana_MU kana_ME kana_MO - - - kana_RA kana_RI
4d9 kana_RU kana_RE kana_RO kana_WA kana_N voicedsound semivoicedsound
5ac Arabic_comma
5bb Arabic_semicolon - - - Arabic_question_mark - Arabic_hamza Arabic_maddaonalef Arabic_hamzaonalef Arabic_hamzaonwaw
5c5 Arabic_hamzaunderalef Arabic_hamzaonyeh Arabic_alef Arabic_beh Arabic_tehmarbuta Arabic_teh Arabic_theh
5cc Arabic_jeem Arabic_hah Arabic_khah Arabic_dal Arabic_thal Arabic_ra Arabic_zain Arabic_seen Arabic_sheen
5d5 Arabic_sad Arabic_dad Arabic_tah Arabic_zah Arabic_ain Arabic_ghain - - - - - Arabic_tatweel Arabic_feh Arabic_qaf
5e3 Arabic_kaf Arabic_lam Arabic_meem Arabic_noon Arabic_ha Arabic_waw Arabic_alefmaksura Arabic_yeh Arabic_fathatan
5ec Arabic_dammatan Arabic_kasratan Arabic_fatha Arabic_damma Arabic_kasra Arabic_shadda Arabic_sukun
6a1 Serbian_dje Macedonia_gje Cyrillic_io Ukrainian_ie Macedonia_dse Ukrainian_i Ukrainian_yi Cyrillic_je Cyrillic_lje
6aa Cyrillic_nje Serbian_tshe Macedonia_kje Ukrainian_ghe_with_upturn Byelorussian_shortu Cyrillic_dzhe numerosign
6c0 Cyrillic_yu Cyrillic_a Cyrillic_be Cyrillic_tse Cyrillic_de Cyrillic_ie Cyrillic_ef Cyrillic_ghe Cyrillic_ha
6c9 Cyrillic_i Cyrillic_shorti Cyrillic_ka Cyrillic_el Cyrillic_em Cyrillic_en Cyrillic_o Cyrillic_pe Cyrillic_ya
6d2 Cyrillic_er Cyrillic_es Cyrillic_te Cyrillic_u Cyrillic_zhe Cyrillic_ve Cyrillic_softsign Cyrillic_yeru
6da Cyrillic_ze Cyrillic_sha Cyrillic_e Cyrillic_shcha Cyrillic_che Cyrillic_hardsign
7a5 Greek_IOTAdiaeresis
7ae Greek_accentdieresis Greek_horizbar - Greek_alphaaccent Greek_epsilonaccent Greek_etaaccent Greek_iotaaccent
7b5 Greek_iotadieresis Greek_iotaaccentdieresis Greek_omicronaccent Greek_upsilonaccent Greek_upsilondieresis
7ba Greek_upsilonaccentdieresis Greek_omegaaccent
7e1 Greek_alpha Greek_beta Greek_gamma Greek_delta Greek_epsilon Greek_zeta Greek_eta Greek_theta Greek_iota
7ea Greek_kappa Greek_lamda Greek_mu Greek_nu Greek_xi Greek_omicron Greek_pi Greek_rho Greek_sigma
7f3 Greek_finalsmallsigma Greek_tau Greek_upsilon Greek_phi Greek_chi Greek_psi Greek_omega
8a1 leftradical topleftradical horizconnector topintegral botintegral vertconnector topleftsqbracket botleftsqbracket
8a9 toprightsqbracket botrightsqbracket topleftparens botleftparens toprightparens botrightparens leftmiddlecurlybrace
8b0 rightmiddlecurlybrace topleftsummation botleftsummation topvertsummationconnector botvertsummationconnector
8b5 toprightsummation botrightsummation rightmiddlesummation - - - - lessthanequal notequal greaterthanequal integral
8c0 therefore variation infinity - - nabla - - approximate similarequal - - - ifonlyif implies identical
8d6 radical - - - includedin includes intersection union logicaland logicalor
8ef partialderivative - - - - - - function - - - - leftarrow uparrow rightarrow downarrow
9df blank soliddiamond checkerboard ht ff cr lf - - nl vt lowrightcorner uprightcorner upleftcorner lowleftcorner
9ee crossinglines horizlinescan1 horizlinescan3 horizlinescan5 horizlinescan7 horizlinescan9 leftt rightt bott topt
9f8 vertbar
aa1 emspace enspace em3space em4space digitspace punctspace thinspace hairspace emdash endash - signifblank - ellipsis
aaf doubbaselinedot onethird twothirds onefifth twofifths threefifths fourfifths onesixth fivesixths careof
abb figdash leftanglebracket decimalpoint rightanglebracket marker - - - oneeighth threeeighths fiveeighths
ac6 seveneighths - - trademark signaturemark trademarkincircle leftopentriangle rightopentriangle emopencircle
acf emopenrectangle leftsinglequotemark rightsinglequotemark leftdoublequotemark rightdoublequotemark prescription
ad5 permille minutes seconds - latincross hexagram filledrectbullet filledlefttribullet filledrighttribullet
ade emfilledcircle emfilledrect enopencircbullet enopensquarebullet openrectbullet opentribulletup opentribulletdown
ae5 openstar enfilledcircbullet enfilledsqbullet filledtribulletup filledtribulletdown leftpointer rightpointer club
aed diamond heart - maltesecross dagger doubledagger checkmark ballotcross musicalsharp musicalflat malesymbol
af8 femalesymbol telephone telephonerecorder phonographcopyright caret singlelowquotemark doublelowquotemark cursor
ba3 leftcaret - - rightcaret - downcaret upcaret
bc0 overbar - downtack upshoe downstile - underbar - - - jot - quad - uptack circle - - - upstile - - downshoe
bd8 rightshoe - leftshoe - lefttack
bfc righttack
cdf hebrew_doublelowline hebrew_aleph hebrew_bet hebrew_gimel hebrew_dalet hebrew_he hebrew_waw hebrew_zain
ce7 hebrew_chet hebrew_tet hebrew_yod hebrew_finalkaph hebrew_kaph hebrew_lamed hebrew_finalmem hebrew_mem
cef hebrew_finalnun hebrew_nun hebrew_samech hebrew_ayin hebrew_finalpe hebrew_pe hebrew_finalzade hebrew_zade
cf7 hebrew_qoph hebrew_resh hebrew_shin hebrew_taw
da1 Thai_kokai Thai_khokhai Thai_khokhuat Thai_khokhwai Thai_khokhon Thai_khorakhang Thai_ngongu Thai_chochan
da9 Thai_choching Thai_chochang Thai_soso Thai_chochoe Thai_yoying Thai_dochada Thai_topatak Thai_thothan
db1 Thai_thonangmontho Thai_thophuthao Thai_nonen Thai_dodek Thai_totao Thai_thothung Thai_thothahan Thai_thothong
db9 Thai_nonu Thai_bobaimai Thai_popla Thai_phophung Thai_fofa Thai_phophan Thai_fofan Thai_phosamphao Thai_moma
dc2 Thai_yoyak Thai_rorua Thai_ru Thai_loling Thai_lu Thai_wowaen Thai_sosala Thai_sorusi Thai_sosua Thai_hohip
dcc Thai_lochula Thai_oang Thai_honokhuk Thai_paiyannoi Thai_saraa Thai_maihanakat Thai_saraaa Thai_saraam Thai_sarai
dd5 Thai_saraii Thai_saraue Thai_sarauee Thai_sarau Thai_sarauu Thai_phinthu - - - Thai_maihanakat_maitho Thai_baht
de0 Thai_sarae Thai_saraae Thai_sarao Thai_saraaimaimuan Thai_saraaimaimalai Thai_lakkhangyao Thai_maiyamok
de7 Thai_maitaikhu Thai_maiek Thai_maitho Thai_maitri Thai_maichattawa Thai_thanthakhat Thai_nikhahit - - Thai_leksun
df1 Thai_leknung Thai_leksong Thai_leksam Thai_leksi Thai_lekha Thai_lekhok Thai_lekchet Thai_lekpaet Thai_lekkao
ea1 Hangul_Kiyeog Hangul_SsangKiyeog Hangul_KiyeogSios Hangul_Nieun Hangul_NieunJieuj Hangul_NieunHieuh Hangul_Dikeud
ea8 Hangul_SsangDikeud Hangul_Rieul Hangul_RieulKiyeog Hangul_RieulMieum Hangul_RieulPieub Hangul_RieulSios
eae Hangul_RieulTieut Hangul_RieulPhieuf Hangul_RieulHieuh Hangul_Mieum Hangul_Pieub Hangul_SsangPieub
eb4 Hangul_PieubSios Hangul_Sios Hangul_SsangSios Hangul_Ieung Hangul_Jieuj Hangul_SsangJieuj Hangul_Cieuc
ebb Hangul_Khieuq Hangul_Tieut Hangul_Phieuf Hangul_Hieuh Hangul_A Hangul_AE Hangul_YA Hangul_YAE Hangul_EO Hangul_E
ec5 Hangul_YEO Hangul_YE Hangul_O Hangul_WA Hangul_WAE Hangul_OE Hangul_YO Hangul_U Hangul_WEO Hangul_WE Hangul_WI
ed0 Hangul_YU Hangul_EU Hangul_YI Hangul_I Hangul_J_Kiyeog Hangul_J_SsangKiyeog Hangul_J_KiyeogSios Hangul_J_Nieun
ed8 Hangul_J_NieunJieuj Hangul_J_NieunHieuh Hangul_J_Dikeud Hangul_J_Rieul Hangul_J_RieulKiyeog Hangul_J_RieulMieum
ede Hangul_J_RieulPieub Hangul_J_RieulSios Hangul_J_RieulTieut Hangul_J_RieulPhieuf Hangul_J_RieulHieuh Hangul_J_Mieum
ee4 Hangul_J_Pieub Hangul_J_PieubSios Hangul_J_Sios Hangul_J_SsangSios Hangul_J_Ieung Hangul_J_Jieuj Hangul_J_Cieuc
eeb Hangul_J_Khieuq Hangul_J_Tieut Hangul_J_Phieuf Hangul_J_Hieuh Hangul_RieulYeorinHieuh Hangul_SunkyeongeumMieum
ef1 Hangul_SunkyeongeumPieub Hangul_PanSios Hangul_KkogjiDalrinIeung Hangul_SunkyeongeumPhieuf Hangul_YeorinHieuh
ef6 Hangul_AraeA Hangul_AraeAE Hangul_J_PanSios Hangul_J_KkogjiDalrinIeung Hangul_J_YeorinHieuh - - - - Korean_Won
13bd oe
20ac EuroSign
ffffff VoidSymbol
100012d ibreve
1000175 wcircumflex - ycircumflex
10001a1 ohorn
10001b0 uhorn - - - - - zstroke
10001d2 ocaron
10001e7 gcaron
1000259 schwa
1000275 obarred
1000292 ezh
1000300 combining_grave combining_acute - combining_tilde - - - - - combining_hook
1000323 combining_belowdot
1000493 Cyrillic_ghe_bar - - - Cyrillic_zhe_descender - - - Cyrillic_ka_descender - Cyrillic_ka_vertstroke
10004a3 Cyrillic_en_descender
10004af Cyrillic_u_straight - Cyrillic_u_straight_bar - Cyrillic_ha_descender - - - Cyrillic_che_descender
10004b9 Cyrillic_che_vertstroke - Cyrillic_shha
10004d9 Cyrillic_schwa
10004e3 Cyrillic_i_macron - - - - - Cyrillic_o_bar - - - - - Cyrillic_u_macron
100055a Armenian_apostrophe Armenian_accent Armenian_exclam Armenian_separation_mark Armenian_question
1000561 Armenian_ayb Armenian_ben Armenian_gim Armenian_da Armenian_yech Armenian_za Armenian_e Armenian_at
1000569 Armenian_to Armenian_zhe Armenian_ini Armenian_lyun Armenian_khe Armenian_tsa Armenian_ken Armenian_ho
1000571 Armenian_dza Armenian_ghat Armenian_tche Armenian_men Armenian_hi Armenian_nu Armenian_sha Armenian_vo
1000579 Armenian_cha Armenian_pe Armenian_je Armenian_ra Armenian_se Armenian_vev Armenian_tyun Armenian_re
1000581 Armenian_tso Armenian_vyun Armenian_pyur Armenian_ke Armenian_o Armenian_fe Armenian_ligature_ew
1000589 Armenian_full_stop Armenian_hyphen
1000653 Arabic_madda_above Arabic_hamza_above Arabic_hamza_below
1000660 Arabic_0 Arabic_1 Arabic_2 Arabic_3 Arabic_4 Arabic_5 Arabic_6 Arabic_7 Arabic_8 Arabic_9 Arabic_percent
1000670 Arabic_superscript_alef
1000679 Arabic_tteh - - - - Arabic_peh
1000686 Arabic_tcheh - Arabic_ddal
1000691 Arabic_rreh - - - - - - Arabic_jeh
10006a4 Arabic_veh - - - - Arabic_keheh - - - - - Arabic_gaf
10006ba Arabic_noon_ghunna - - - Arabic_heh_doachashmee - - Arabic_heh_goal
10006cc Farsi_yeh - - - - - Arabic_yeh_baree - Arabic_fullstop
10006f0 Farsi_0 Farsi_1 Farsi_2 Farsi_3 Farsi_4 Farsi_5 Farsi_6 Farsi_7 Farsi_8 Farsi_9
1000d82 Sinh_ng Sinh_h2 - Sinh_a Sinh_aa Sinh_ae Sinh_aee Sinh_i Sinh_ii Sinh_u Sinh_uu Sinh_ri Sinh_rii Sinh_lu
1000d90 Sinh_luu Sinh_e Sinh_ee Sinh_ai Sinh_o Sinh_oo Sinh_au - - - Sinh_ka Sinh_kha Sinh_ga Sinh_gha Sinh_ng2
1000d9f Sinh_nga Sinh_ca Sinh_cha Sinh_ja Sinh_jha Sinh_nya Sinh_jnya Sinh_nja Sinh_tta Sinh_ttha Sinh_dda Sinh_ddha
1000dab Sinh_nna Sinh_ndda Sinh_tha Sinh_thha Sinh_dha Sinh_dhha Sinh_na - Sinh_ndha Sinh_pa Sinh_pha Sinh_ba Sinh_bha
1000db8 Sinh_ma Sinh_mba Sinh_ya Sinh_ra - Sinh_la - - Sinh_va Sinh_sha Sinh_ssha Sinh_sa Sinh_ha Sinh_lla Sinh_fa
1000dca Sinh_al - - - - Sinh_aa2 Sinh_ae2 Sinh_aee2 Sinh_i2 Sinh_ii2 Sinh_u2 - Sinh_uu2 - Sinh_ru2 Sinh_e2 Sinh_ee2
1000ddb Sinh_ai2 Sinh_o2 Sinh_oo2 Sinh_au2 Sinh_lu2
1000df2 Sinh_ruu2 Sinh_luu2 Sinh_kunddaliya
10010d0 Georgian_an Georgian_ban Georgian_gan Georgian_don Georgian_en Georgian_vin Georgian_zen Georgian_tan
10010d8 Georgian_in Georgian_kan Georgian_las Georgian_man Georgian_nar Georgian_on Georgian_par Georgian_zhar
10010e0 Georgian_rae Georgian_san Georgian_tar Georgian_un Georgian_phar Georgian_khar Georgian_ghan Georgian_qar
10010e8 Georgian_shin Georgian_chin Georgian_can Georgian_jil Georgian_cil Georgian_char Georgian_xan Georgian_jhan
10010f0 Georgian_hae Georgian_he Georgian_hie Georgian_we Georgian_har Georgian_hoe Georgian_fi
1001e03 babovedot
1001e0b dabovedot
1001e1f fabovedot
1001e37 lbelowdot
1001e41 mabovedot
1001e57 pabovedot
1001e61 sabovedot
1001e6b tabovedot
1001e81 wgrave - wacute - wdiaeresis - - - - - xabovedot
1001ea1 abelowdot - ahook - acircumflexacute - acircumflexgrave - acircumflexhook - acircumflextilde
1001ead acircumflexbelowdot - abreveacute - abrevegrave - abrevehook - abrevetilde - abrevebelowdot - ebelowdot
1001ebb ehook - etilde - ecircumflexacute - ecircumflexgrave - ecircumflexhook - ecircumflextilde
1001ec7 ecircumflexbelowdot - ihook - ibelowdot - obelowdot - ohook - ocircumflexacute - ocircumflexgrave
1001ed5 ocircumflexhook - ocircumflextilde - ocircumflexbelowdot - ohornacute - ohorngrave - ohornhook - ohorntilde
1001ee3 ohornbelowdot - ubelowdot - uhook - uhornacute - uhorngrave - uhornhook - uhorntilde - uhornbelowdot - ygrave
1001ef5 ybelowdot - yhook - ytilde
1002070 zerosuperior - - - foursuperior fivesuperior sixsuperior sevensuperior eightsuperior ninesuperior
1002080 zerosubscript onesubscript twosubscript threesubscript foursubscript fivesubscript sixsubscript sevensubscript
1002088 eightsubscript ninesubscript
10020a0 EcuSign ColonSign CruzeiroSign FFrancSign LiraSign MillSign NairaSign PesetaSign RupeeSign WonSign
10020aa NewSheqelSign DongSign
1002202 partdifferential - - emptyset - - elementof notelementof - containsas
100221a squareroot cuberoot fourthroot
100222c dintegral tintegral
1002235 because
1002247 notapproxeq approxeq
1002262 notidentical stricteq
1002800 braille_blank
3a2 kappa
4a5 kana_middledot
4af kana_tu
4c1 kana_TI
4cc kana_HU
5e7 Arabic_heh
6a4 Ukranian_je - Ukranian_i Ukranian_yi Serbian_je Serbian_lje Serbian_nje - - - - Serbian_dze
7eb Greek_lambda
ce1 hebrew_beth hebrew_gimmel hebrew_daleth - - hebrew_zayin hebrew_het hebrew_teth
cf1 hebrew_samekh - - - hebrew_finalzadi hebrew_zadi hebrew_kuf - - hebrew_taf
100055b Armenian_shesht Armenian_amanak Armenian_but Armenian_paruyk
1000589 Armenian_verjaket Armenian_yentamna
10006cc Arabic_farsi_yeh
`;
