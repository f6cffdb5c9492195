
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0026_word_index'),
    ]

    operations = [
        migrations.CreateModel(
            name='Version',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField(help_text='from 1, the first words')),
                ('body', models.TextField()),
                ('why', models.CharField(blank=True, max_length=200)),
                ('counts', models.BooleanField(default=True)),
                ('n_ratings', models.PositiveIntegerField(default=0, help_text='given to these words or before')),
                ('set_aside', models.JSONField(blank=True, default=list)),
                ('citations', models.JSONField(blank=True, default=list)),
                ('replaced', models.DateTimeField(auto_now_add=True)),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='annotation.dataset')),
                ('question', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='annotation.subquestion')),
                ('text', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='annotation.text')),
            ],
            options={
                'ordering': ['-replaced', '-pk'],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('question__isnull', False), ('text__isnull', True)), models.Q(('question__isnull', True), ('text__isnull', False)), _connector='OR'), name='version_of_one_thing'), models.UniqueConstraint(condition=models.Q(('text__isnull', False)), fields=('text', 'number'), name='text_version_number_unique'), models.UniqueConstraint(condition=models.Q(('question__isnull', False)), fields=('question', 'number'), name='question_version_number_unique')],
            },
        ),
    ]
