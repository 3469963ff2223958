#!/bin/sh
# Makes the documents of this folder with LibreOffice 7.4, pandoc 2.17 and iconv. Run it here.
set -eu
python3 source/make_columns
pandoc source/report.md -o report.docx
pandoc source/report.md -s -o report.html
pandoc source/report.md -o report.epub
pandoc source/slides.md -o slides.pptx
soffice --headless --convert-to pdf --outdir . source/columns.fodt
soffice --headless --convert-to docx --outdir office report.docx
soffice --headless --convert-to pdf --outdir office report.docx
soffice --headless --convert-to 'pdf:writer_pdf_Export:{"EncryptFile":{"type":"boolean","value":"true"},"DocumentOpenPassword":{"type":"string","value":"x"}}' --outdir encrypted report.docx
soffice --headless --convert-to pptx --outdir office slides.pptx
soffice --headless --infilter='CSV:44,34,76,1,,0,false,true,false,true' --convert-to xlsx --outdir . source/sheet.csv
for encoding in UTF-16LE UTF-16BE UTF-8 ISO-8859-15 WINDOWS-1252; do
    iconv -f UTF-8 -t "$encoding//TRANSLIT" source/umlauts.txt > "umlauts.$encoding.txt"
done
iconv -f UTF-8 -t UTF-16 source/umlauts.txt > umlauts.bom.txt
iconv -f UTF-8 -t KOI8-R source/russian.txt > russian.koi8-r.txt
iconv -f UTF-8 -t SHIFT_JIS source/japanese.txt > japanese.sjis.txt
