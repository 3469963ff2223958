"""Stop words of each language: they identify the language and weigh little in a query."""

_LISTS = {
    "english": """
        a about above after again against all also am an and any anything are as at be
        because been before being below between both but by can could did do does doing don
        d down during each ever few for from further get got had has have having he her here hers
        herself him himself his how i if in into is it its itself just kind know let like ll m me
        many mentioned more most much my myself no nor not now of off on once only or other our ours
        ourselves out over own re remember s said same say she should so some something such tell
        than that the their theirs them themselves then there these they this those through
        t to too under until up us ve very was we were what when where which while who whom whose
        why will with would you your yours yourself yourselves
    """,
    "german": """
        aber alle als also am an auch auf aus bei bin bis bist da damit dann das dass dem
        den denn der des die dies diese dieser dieses doch dort du durch ein eine einem
        einen einer eines er es etwas euch euer fur gegen hab habe haben hat hatte hatten
        hier ich ihm ihn ihnen ihr ihre ihrem ihren im in ist ja jede jeder kann kein keine
        konnen machen man mein meine mich mir mit muss nach nicht nichts noch nur ob oder
        ohne sehr sein seine sich sie sind so uber um und uns unser unter viel vom von vor
        wann war waren warum was weil welche welcher wenn wer werden wie wieder will wir
        wird wo wurde zu zum zur zwischen
    """,
    "french": """
        a ai alors au aucun aussi autre aux avait avant avec avez avoir avons c car ce cela
        ces cet cette ceux chez ci comme comment d dans de des deux donc dont du elle elles
        en encore entre est et etaient etait ete etre eu fait fois font ici il ils j je l la
        le les leur leurs lui ma mais me meme mes moi mon n ne nos notre nous on ont ou par
        parce pas pendant peut plus pour pourquoi qu quand que quel quelle quelles quels qui
        s sa sans se ses si son sont sous sur ta te tes toi ton tous tout tres tu un une vos
        votre vous y
    """,
    "spanish": """
        a al algo alguna algunas alguno algunos ante antes aqui asi aun aunque cada como con
        contra cual cuales cuando cuanto de del desde donde dos durante e el ella ellas
        ellos en entre era eran eres es esa esas ese eso esos esta estaba estado estan estar
        estas este esto estos estoy fue fueron ha hace hacia han hasta hay he la las le les
        lo los mas me mi mis mucho muy nada ni no nos nosotros nuestra nuestro o otra otro
        para pero poco por porque que quien quienes se sea ser si sin sobre solo son soy su
        sus tambien tanto te tiene tienen todo todos tu tus un una uno unos y ya yo
    """,
    "italian": """
        a abbiamo agli ai al alla alle allo anche ancora aveva avevo c che chi ci come con
        contro cosa cui da dagli dai dal dalla dalle de degli dei del della delle dello di
        dopo dove e ed era erano essere fa fino fra gli ha hai hanno ho i il in io l la le
        lei li lo loro lui ma me mi mia mie miei mio molto ne negli nei nel nella nelle noi
        non nostra nostro o ogni per perche piu poi prima qua quale quali quando quanto
        quella quelle quelli quello questa queste questi questo qui se sei si sia siamo sono
        sotto sta stata stato su sua sue sugli sui sul sulla suo suoi te ti tra tu tua tuo
        tutti tutto un una uno vi voi
    """,
    "portuguese": """
        a ao aos aquela aquele aquilo as ate com como da das de dela dele deles depois do
        dos e ela elas ele eles em entre era eram essa essas esse esses esta estao estar
        estas estava este estes eu foi foram ha isso isto ja la lhe mais mas me mesmo meu
        meus minha minhas muito na nao nas nem no nos nossa nosso num numa o onde os ou para
        pela pelas pelo pelos por porque qual quando que quem se sem ser seu seus so sob
        sobre sua suas tambem te tem tinha todos tu um uma umas voce voces
    """,
    "dutch": """
        aan al alles als altijd andere ben bij daar dan dat de der deze die dit doch doen
        door dus een eens en er ge geen geweest haar had heb hebben heeft hem het hier hij
        hoe hun iemand iets ik in is ja je kan kon kunnen maar me meer men met mij mijn moet
        na naar niet niets nog nu of om omdat onder ons ook op over reeds te tegen toch toen
        tot u uit uw van veel voor waarom wanneer want waren was wat we wel werd wezen wie
        wij wil worden wordt zal ze zei zelf zich zij zijn zo zonder zou
    """,
    "swedish": """
        alla allt an at att av bara blev bli blir da dar de dem den denna deras dess det
        detta dig din dina dit ditt du efter ej eller en er era ert ett for fran ha hade han
        hans har hennes hon honom hur i icke inom inte ja jag kan kunde man med mellan men
        mig min mina mitt mot mycket nagon nagot nagra nar ni nu och om oss over pa sa sadan
        sig sin sina sitt ska skulle som till under upp ut utan vad var vara varfor vart vem
        vi vid vilka vilken vill
    """,
    "danish": """
        ad af alle alt anden at blev blive bliver da de dem den denne der deres det dette
        dig din disse dog du efter eller en end er et for fra ham han hans har havde have
        hende hendes her hos hun hvad hvis hvor hvorfor i ikke ind jeg jer jo kunne man
        mange med meget men mig min mine mit mod nar ned noget nogle nu og ogsa om op os
        over pa sadan selv sig sin sine sit skal skulle som til ud under vaere vaeret var vi
        vil ville vor
    """,
    "norwegian": """
        alle at av bare begge ble blei bli da de deg dem den denne der dere deres det dette
        di din disse ditt du eg ei ein eller en enn er et etter for fra ha hadde ham han
        hans har henne hennes her hun hva hvem hver hvilken hvis hvor hvordan hvorfor i ikke
        ikkje inn jeg kan kom kunne man mange me med meg mellom men mer min mitt mot mye na
        nar ned noe noen nok nu og ogsa om opp oss over pa sa seg selv si sin sine skal
        skulle slik som til ut uten vaert var vart vi vil ville vore
    """,
    "finnish": """
        ei eivat emme en ennen etta ettei han hanen he heidan ja jo joka joku jos jossa jota
        joten jotka kaikki kanssa keita kenen koska kuin kuinka kuka kun me meidan mika
        mikaan miksi milloin mina minka minun missa mita mukaan mutta myos ne niiden niin
        niita nyt ole olen olet olette oli olivat olla on ovat poikki se sen siella silla
        sina sinun sita taas tai tama tassa te tuo vaan vai vaikka vain voi yli
    """,
    "russian": """
        а без более был была были было быть в вам вас весь во вот все всего всех вы где да
        даже для до его ее если есть еще же за здесь и из или им их к как ко когда кто ли
        либо мне может мы на над надо наш не него нее нет ни них но ну о об однако он она
        они оно от очень по под почему при с со так также такой там те тем то того тоже той
        только том ты у уже хотя чего чей чем что чтобы чье эта эти это этот я
    """,
    "turkish": """
        ama ancak artık bana bazı ben beni benim bir biraz biz bize bizim bu buna bunu bunun
        da daha de degil diye en gibi hem hep her hic icin ile ise kadar ki kim mi mu nasil
        ne neden nerede niye o olan olarak oldu olur onlar onu onun sen seni senin siz sizin
        sonra su var ve veya ya yok zaman
    """,
    "greek": """
        αλλα αν απο αυτη αυτο αυτοσ για δεν ειμαι ειναι ειχε ενα εχει η θα και κατα μασ με
        μετα μια να ο οι οτι ουτε ποιοσ που πριν πωσ σασ σε στα στη στην στο στον τα την τησ
        τι το τον του τουσ των ωσ
    """,
    "hungarian": """
        a abban ahhoz ahogy ahol aki akkor alatt amely ami amit az azert azok azon azt be
        bele cikk csak de e ebben egy egyik el ellen elott en es ez ezek ezen ezt ha hanem
        hogy hogyan i ide ilyen is itt jo kell kellett ki le legalabb lehet lesz lett maga
        majd mar mas meg mely mert mi miert mikor milyen mind minden mint mit most nagyon
        ne neha nekem nelkul nem nincs o ok olyan ott s sajat sem sok szamara talan te tehat
        tobb ugy ugyanis utan vagy vagyok valaki valami van vannak vele viszont volt voltak
        volna
    """,
    "romanian": """
        acea aceasta acel acest aceste acestea acestia acolo acum ai aici al ale am ar are
        as asa asta astfel atunci au avea ca care ce cel cele cum cand cine cu da daca dar
        de deci decat din doar dupa ea ei el ele era erau este eu fara fi fie fost i ii il
        in inca insa intre isi la le lor lui mai mea mei meu mult ne nici noi nostru nu o
        ori pana pe pentru prin sa sau se si sunt te toate tot tu un una unde unei unor unui
        va voi vom vor
    """,
    "polish": """
        aby ale bez bo by byc byl byla bylo byly co czy dla do gdy gdzie go i ich ile im ja
        jak jako je jego jej jest juz kiedy kto ktora ktore ktory lub ma mi mnie moj moze my
        na nad nas nie nim o od on ona one oni oraz po pod przez przy sa sie sobie ta tak
        takze tam te tego ten to tu ty tych tylko tym w we wiec wszystko z za ze zeby
    """,
}

STOP_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(text.split()) for language, text in _LISTS.items()
}
